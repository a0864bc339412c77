"""How well a detector tells texts with a message from covers.

A part of the texts is held out. Covers as a whole count as much as the other texts, so a detector
that knows nothing is right half of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.auroc import auroc
from ticore.evaluation import Rate, rate

from .detectors.detector import Detector, Seen

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

ONE_OF = 5
"""A detector is tested on one text of that many."""

FEWEST = 20
"""Texts of a kind below which nothing is tested."""

MakeDetector = Callable[[], Detector]

Scores = npt.NDArray[np.float64]
"""What `Detector.scores` returns."""


@dataclass(frozen=True)
class Split:
    """Texts to learn from, and texts to be tested on."""

    train: Sequence[Seen]
    test: Sequence[Seen]

    @classmethod
    def of(cls, texts: Sequence[Seen], seed: int) -> Split:
        """A split by chance, the same one for all kinds of texts: see `is_held_out`."""
        train = [text for text in texts if not is_held_out(text.index, seed)]
        return cls(train, [text for text in texts if is_held_out(text.index, seed)])


def is_held_out(number: int, seed: int) -> bool:
    """Whether detectors are tested on the texts of a number: of one of each five, by chance.

    The number decides, not the place in a list, from which texts may be missing: texts of one
    number have one prompt and one message, and a detector must not have learned from any of them.
    """
    fives, place = divmod(number, ONE_OF)
    return bool(np.random.default_rng([seed, fives]).integers(ONE_OF) == place)


def trained(make: MakeDetector, hiding: Split, covers: Split, seed: int) -> Detector:
    """A detector that learned from as many texts of each kind."""
    count = min(len(hiding.train), len(covers.train))
    texts = [*hiding.train[:count], *covers.train[:count]]
    detector = make()
    detector.fit(texts, np.arange(2 * count) < count, seed)
    return detector


def measured(of_hiding: Scores, of_covers: Scores) -> JsonObject:
    """How well a detector does on texts that it has not seen.

    Args:
        of_hiding: its scores of texts with a message.
        of_covers: its scores of covers.

    Returns:
        `accuracy` with its interval of 95 %, see `balanced`; `auroc`; `test_count`, the number of
        texts with a message.
    """
    found = rate(int((of_hiding > 0).sum()), len(of_hiding))
    left_alone = rate(int((of_covers <= 0).sum()), len(of_covers))
    return {
        "accuracy": asdict(balanced(found, left_alone)),
        "auroc": auroc(of_hiding, of_covers),
        "test_count": len(of_hiding),
    }


def balanced(one: Rate, other: Rate) -> Rate:
    """The mean of two shares that were measured on different texts, with its interval.

    The interval is made of those of the two (Zou and Donner 2008, "Construction of confidence
    limits about effect measures", MOVER).

    >>> balanced(Rate(0.5, 0.2, 0.8), Rate(0.7, 0.3, 1.0))
    Rate(value=0.6, low=0.35, high=0.812...)
    """
    value = (one.value + other.value) / 2
    below = math.hypot(one.value - one.low, other.value - other.low) / 2
    above = math.hypot(one.high - one.value, other.high - other.value) / 2
    return Rate(value, value - below, value + above)
