"""Intervals of measures over texts, by drawing texts again and again from those at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ticore.evaluation import Rate

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

DRAWS = 2000

Floats = npt.NDArray[np.float64]


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Rate | None:
    """The sum of `parts` by the sum of `wholes`, with a bootstrap interval of 95 % over texts.

    Args:
        parts, wholes: for each text.

    Returns:
        None where the wholes are 0 together.
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if not whole.sum():
        return None
    counts = _counts(len(part))
    totals = counts @ whole
    ratios = (counts @ part)[totals > 0] / totals[totals > 0]
    return with_interval(float(part.sum() / whole.sum()), ratios)


def mean(values: Sequence[float]) -> Rate | None:
    """The mean over texts, with its interval; None of no values."""
    return ratio(values, [1.0] * len(values))


def median(values: Sequence[float]) -> Rate | None:
    """The median, with a bootstrap interval of 95 %; None of no values."""
    if not len(values):
        return None
    drawn = np.random.default_rng(0).choice(values, (DRAWS, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975]).tolist()
    return Rate(float(np.median(values)), low, high)


def drawn_means(values: Sequence[float]) -> Floats:
    """The mean over the texts of each draw, float64[DRAWS], for a measure made of several means.

    Args:
        values: for each text, at least one.
    """
    found: Floats = _counts(len(values)) @ np.asarray(values, dtype=np.float64) / len(values)
    return found


def with_interval(value: float, drawn: Floats) -> Rate:
    """A measure with the interval that holds 95 % of what it is in each draw."""
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return Rate(value, low, high)


def as_json(found: Rate | None) -> JsonObject | None:
    """A measure as JSON."""
    return None if found is None else asdict(found)


@lru_cache(maxsize=2)  # the measures of one cell follow each other; 16 kB per text
def _counts(size: int) -> Floats:
    """How often each text is drawn, float64[DRAWS, size]: so a mean takes one product."""
    rng = np.random.default_rng(0)
    return rng.multinomial(size, np.full(size, 1 / size), size=DRAWS).astype(np.float64)
