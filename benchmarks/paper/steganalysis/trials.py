"""How well a detector tells texts with a message from covers.

A part of the texts is held out. In a test as many covers as other texts count, so a detector that
knows nothing is right half of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ticore.evaluation import rate

from .detectors.detector import Detector, Seen

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

HELD_OUT = 0.2
"""The share of texts that a detector is tested on."""

FEWEST = 20
"""Texts of a kind below which nothing is tested."""

MakeDetector = Callable[[], Detector]


@dataclass(frozen=True)
class Split:
    """Texts to learn from, and texts to be tested on."""

    train: Sequence[Seen]
    test: Sequence[Seen]

    @classmethod
    def of(cls, texts: Sequence[Seen], seed: int) -> Split:
        """A split by chance."""
        order = np.random.default_rng(seed).permutation(len(texts)).tolist()
        test = round(HELD_OUT * len(texts))
        return cls([texts[n] for n in order[test:]], [texts[n] for n in order[:test]])


def trained(make: MakeDetector, hiding: Split, covers: Split, seed: int) -> Detector:
    """A detector that learned from as many texts of each kind."""
    count = min(len(hiding.train), len(covers.train))
    texts = [*hiding.train[:count], *covers.train[:count]]
    detector = make()
    detector.fit(texts, np.arange(2 * count) < count, seed)
    return detector


def measured(detector: Detector, hiding: Sequence[Seen], covers: Sequence[Seen]) -> JsonObject:
    """How well a detector does on texts that it has not seen.

    Returns:
        `accuracy` with its interval of 95 %, over as many texts of each kind; `auroc`, over all;
        `test_count`, the number of texts with a message.
    """
    of_hiding, of_covers = detector.scores(hiding), detector.scores(covers)
    count = min(len(hiding), len(covers))
    right = int((of_hiding[:count] > 0).sum() + (of_covers[:count] <= 0).sum())
    return {
        "accuracy": asdict(rate(right, 2 * count)),
        "auroc": auroc(of_hiding, of_covers),
        "test_count": len(hiding),
    }


def auroc(high: npt.NDArray[np.float64], low: npt.NDArray[np.float64]) -> float:
    """How often a value of `high` is above one of `low`; equal values count half.

    >>> auroc(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, "left") + np.searchsorted(ordered, high, "right")
    return float(below.mean() / (2 * len(low)))
