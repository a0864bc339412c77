"""Intervals of measures over texts, by drawing texts again and again from those at hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ticore.evaluation import Rate

DRAWS = 2000


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
    rng = np.random.default_rng(0)
    # How often each text is drawn, instead of the texts: one product per draw.
    counts = rng.multinomial(len(part), np.full(len(part), 1 / len(part)), size=DRAWS)
    totals = counts @ whole
    ratios = (counts @ part)[totals > 0] / totals[totals > 0]
    low, high = np.quantile(ratios, [0.025, 0.975]).tolist()
    return Rate(float(part.sum() / whole.sum()), low, high)


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
