"""What a disambiguation is: how writer and reader agree on the tokens of a text.

A reader has only text. A disambiguation removes from each step's pool whatever would leave the
reader in doubt, and finds the writer's tokens in the text again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..candidates import Ints, Pool
from ..consistency import Mode, View
from ..draws import Draws
from ..interfaces import Tokenizer


@dataclass(frozen=True)
class Beginning:
    """Where a text begins.

    Attributes:
        tokenizer: the model's.
        prompt: the text that the model continues.
        prompt_ids: its tokens.
        view: whether the prompt is sent with what follows it: `whole`, or `continuation`.
        mode: which lists of tokens count as consistent, see `ticore.consistency.modes`.
    """

    tokenizer: Tokenizer
    prompt: str
    prompt_ids: Sequence[int]
    view: View = "whole"
    mode: Mode = "prefix"


@dataclass(frozen=True)
class Choices:
    """What a codec chooses from at one step.

    Attributes:
        ids: int64[n], the token that each choice writes; n is at least 1.
        mass: int64[n], the choices' unnormalised probabilities, 0 to 2^30 each.
        kept: the tokens that the step can come out with, its shared draws not being known: those of
            `ids`, and where a choice stands for a group of tokens, the whole group.
        group: int64[len(kept)], which choice each of these belongs to.
    """

    ids: Ints
    mass: Ints
    kept: Pool
    group: Ints

    @classmethod
    def of(cls, pool: Pool) -> Choices:
        """Each token of `pool` is a choice."""
        return cls(pool.ids, pool.mass, pool, np.arange(len(pool)))


class Session(Protocol):
    """One text that grows, the same on both sides."""

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        """What a codec may choose from.

        Args:
            pool: the step's candidates.
            outside: all other tokens, the most probable first, for when none of them will do.

        Raises:
            CapacityError: no token at all will do.
        """
        ...

    def share(self, draws: Draws) -> None:
        """From here on both sides have these random numbers in common."""
        ...

    def push(self, token: int) -> None:
        """Take the token that was chosen."""
        ...

    def text(self) -> str:
        """What would be sent if the text ended here."""
        ...

    def may_end(self) -> bool:
        """Whether a reader of `text` finds the same tokens, so that the text may end here."""
        ...


class TextReader(Protocol):
    """Walks along a text that was received."""

    @property
    def foreseen(self) -> Sequence[int] | None:
        """All tokens of the text behind the prompt; None where only the choices tell them."""
        ...

    @property
    def exhausted(self) -> bool:
        """The text has no further token."""
        ...

    def locate(self, choices: Choices) -> int:
        """Index in `choices` of the text's next token, and go on behind it.

        Raises OutsidePoolError where the text goes on with none of them.
        """
        ...


class Disambiguation(Protocol):
    """Makes sessions and readers for texts that begin alike."""

    def start(self) -> Session: ...

    def read(self, text: str) -> TextReader:
        """Raises ExtractionError where the text cannot be one of this prompt's."""
        ...
