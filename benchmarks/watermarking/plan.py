"""What is written and how much of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass

from benchmarks.workers import Found
from ticore.evaluation import Attack, Replacement, WordDrop, WordSwap
from ticore.interfaces import LanguageModel
from ticore.schemes import SCHEMES

UNMARKED = "none"
"""In the place of a scheme: the model itself."""

FPR = 1e-5
"""A text whose p-value is below counts as detected."""


@dataclass(frozen=True)
class Arm:
    """One way to write.

    Attributes:
        observation: tokens that an inconsistency is given to vanish; None: no rollback.
        end_of_text: whether a text may end by itself.
    """

    name: str
    observation: int | None
    end_of_text: bool


@dataclass(frozen=True)
class Plan:
    """How much to write, and how.

    Attributes:
        place: of the model.
        schemes: their names; the model without one is written with in any case.
        tokens: of each text, at most.
        observation: of the arm with rollback.
        temperature, top_k, top_p: as for `ticore.Watermarker`.
        passes: how often the model reads each token, for the time of one so many times as large.
        attacks: names of `ATTACKS`.
        seed: of all random numbers, and of the keys: each sample has its own.
    """

    place: str = "tiny-en"
    schemes: tuple[str, ...] = tuple(SCHEMES)
    tokens: int = 200
    observation: int = 2
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    passes: int = 1
    attacks: tuple[str, ...] = ()
    seed: int = 0

    @property
    def arms(self) -> tuple[Arm, ...]:
        return (
            Arm(ROLLBACK, self.observation, end_of_text=True),
            Arm(NO_ROLLBACK, None, end_of_text=True),
            Arm(MASKED, None, end_of_text=False),
        )

    def shared(self) -> Found:
        """What each sample depends on, whatever its scheme."""
        rows = asdict(self)
        del rows["schemes"]
        return rows


ROLLBACK, NO_ROLLBACK = "rollback", "no rollback"
MASKED = "no rollback, no end of text"

Make = Callable[[LanguageModel, random.Random], Attack]


def _replacement(epsilon: float) -> Make:
    return lambda model, draw: Replacement(model, epsilon, draw)


def _drop(epsilon: float) -> Make:
    return lambda model, draw: WordDrop(epsilon, draw)


def _swap(epsilon: float, window: int) -> Make:
    return lambda model, draw: WordSwap(epsilon, draw, window=window)


ATTACKS: dict[str, Make] = {
    **{f"replacement {epsilon:g}": _replacement(epsilon) for epsilon in (0.1, 0.2, 0.3, 0.5)},
    **{f"word drop {epsilon:g}": _drop(epsilon) for epsilon in (0.1, 0.3)},
    **{f"word swap {epsilon:g}": _swap(epsilon, 1) for epsilon in (0.1, 0.3)},
    "word swap 0.3 within 5": _swap(0.3, 5),
}
