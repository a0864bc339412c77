"""Which samples are taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ticore.evaluation import Attack, Replacement, WordDrop, WordSwap
from ticore.interfaces import LanguageModel
from ticore.schemes import SCHEMES

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

UNMARKED = "none"
"""Stands for the model without a watermark, in place of a scheme."""

FALSE_POSITIVE_RATE = 1e-5
"""A text whose p-value is lower counts as detected."""

ROLLBACK, NO_ROLLBACK = "rollback", "no rollback"
FULL_LENGTH = "no rollback, no end of text"


@dataclass(frozen=True)
class Arm:
    """One way to write.

    Attributes:
        name: for tables.
        observation: tokens after which an inconsistency is rolled back; None: no rollback.
        end_of_text: whether the text may end before its full length.
    """

    name: str
    observation: int | None
    end_of_text: bool


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: what `ticore.load_model` opens.
        schemes: their names. The model without a watermark is always measured as well.
        max_tokens: of each text.
        observation: of the arm with rollback.
        temperature: as for `ticore.Watermarker`.
        top_k: as for `ticore.Watermarker`.
        top_p: as for `ticore.Watermarker`.
        passes: how many times the model reads each token, to be as slow as a larger one.
        attacks: names of `ATTACKS`.
        seed: of all random numbers and keys. Each sample has its own key.
    """

    model: str = "tiny-en"
    schemes: tuple[str, ...] = tuple(SCHEMES)
    max_tokens: int = 200
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
            Arm(FULL_LENGTH, None, end_of_text=False),
        )

    def shared_settings(self) -> JsonObject:
        """The settings that a sample depends on besides its task."""
        return {name: value for name, value in asdict(self).items() if name != "schemes"}


MakeAttack = Callable[[LanguageModel, random.Random], Attack]


def _replacement(share: float) -> MakeAttack:
    return lambda model, draw: Replacement(model, share, draw)


def _drop(share: float) -> MakeAttack:
    return lambda model, draw: WordDrop(share, draw)


def _swap(share: float, window: int) -> MakeAttack:
    return lambda model, draw: WordSwap(share, draw, window=window)


ATTACKS: dict[str, MakeAttack] = {
    **{f"replacement {share:g}": _replacement(share) for share in (0.1, 0.2, 0.3, 0.5)},
    **{f"word drop {share:g}": _drop(share) for share in (0.1, 0.3)},
    **{f"word swap {share:g}": _swap(share, 1) for share in (0.1, 0.3)},
    "word swap 0.3 within 5": _swap(0.3, 5),
}
