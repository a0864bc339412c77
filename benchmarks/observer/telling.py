"""How well numbers about texts tell two kinds apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.auroc import auroc_with_error, shares_below
from benchmarks.paper.steganalysis.detectors.detector import Seen
from benchmarks.paper.steganalysis.detectors.model_statistics import Boosting

from .measures import MEASURES, all_numbers

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Floats = npt.NDArray[np.float64]

FOLDS = 5
CLASSIFIER = "boosted trees on all of it"
_FEWEST = 2 * FOLDS  # texts of a kind, below which nothing is learned


def tests(sealed: Sequence[JsonObject], free: Sequence[JsonObject], seed: int) -> list[JsonObject]:
    """How well each measure, and a classifier on all of them, tells sealed texts from free ones.

    Args:
        sealed, free: texts as `observing` has them; at least two of each.
        seed: of the classifier.

    Returns:
        For each test its `name`, `auc` with its interval, and `p`, the probability of an area as
        far from 1/2 if the kinds are alike.
    """
    in_pool = all("surprisals" in text for text in (*sealed, *free))
    found = [
        {"name": measure.name}
        | _test(*(np.array([measure.of(t) for t in some], float) for some in (sealed, free)))
        for measure in MEASURES
        if in_pool or not measure.in_pool
    ]
    if min(len(sealed), len(free)) >= _FEWEST:
        found.append({"name": CLASSIFIER} | _test(*_learned(sealed, free, in_pool, seed)))
    return found


def _test(high: Floats, low: Floats) -> JsonObject:
    area, error = auroc_with_error(high, low)
    p = 1.0 if area.value == 1 / 2 else 0.0
    if error:
        p = 2 * NormalDist().cdf(-abs(area.value - 1 / 2) / error)
    return {"auc": asdict(area), "p": p}


def _learned(
    sealed: Sequence[JsonObject], free: Sequence[JsonObject], in_pool: bool, seed: int
) -> tuple[Floats, Floats]:
    """Scores of each text by a classifier that has not seen it, as ranks within its fold.

    Texts of one number have one prompt, and are in one fold.
    """
    texts = [*sealed, *free]
    hidden = np.arange(len(texts)) < len(sealed)
    seen = [Seen(t["index"], t["text"], t["ids"], all_numbers(t, in_pool)) for t in texts]
    folds = np.array([text["index"] for text in texts]) % FOLDS
    scores = np.zeros(len(texts))
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        detector = Boosting()
        detector.fit([seen[n] for n in outside], hidden[outside], seed)
        found = detector.scores([seen[n] for n in inside])
        scores[inside] = shares_below(found, found)
    return scores[hidden], scores[~hidden]
