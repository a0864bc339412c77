"""The paper's claims: what stepwise verification changes against the best of its rivals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.intervals import as_json, drawn_means, with_interval
from benchmarks.paper.published import STEPWISE_CHANGE_PERCENT

from .plan import RIVALS, STEPWISE

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Texts = Sequence["JsonObject"]


def changes(groups: Mapping[int, Mapping[str, Texts]]) -> JsonObject:
    """The relative change of each measure that the paper makes a claim about.

    Args:
        groups: texts by bits per token and method.

    Returns:
        For each of these measures its mean change over the groups that hold texts of stepwise
        verification and of a rival, with an interval; -0.1 is 10 % less than the best rival, which
        is the one with the least in each group. None without such groups.
    """
    return {measure: _change(groups.values(), measure) for measure in STEPWISE_CHANGE_PERCENT}


def _change(groups: Iterable[Mapping[str, Texts]], measure: str) -> JsonObject | None:
    values, drawn = [], []
    for group in groups:
        own = _known(group.get(STEPWISE, ()), measure)
        rivals = [some for name in RIVALS if (some := _known(group.get(name, ()), measure))]
        least = min((float(np.mean(some)) for some in rivals), default=0.0)
        if own and least > 0:
            values.append(float(np.mean(own)) / least - 1)
            # The best rival of each draw: which one is best is a matter of the texts, too.
            drawn.append(drawn_means(own) / np.min([*map(drawn_means, rivals)], axis=0) - 1)
    if not values:
        return None
    together: npt.NDArray[np.float64] = np.mean(drawn, axis=0)
    return as_json(with_interval(float(np.mean(values)), together))


def _known(texts: Texts, measure: str) -> list[float]:
    return [text[measure] for text in texts if text[measure] is not None]
