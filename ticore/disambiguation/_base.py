"""What a disambiguation is: how writer and reader agree on the tokens of a text.

A reader has only text. At each step a disambiguation removes the candidates that the reader could
not tell apart, and it finds the writer's tokens in the text again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from .._support.shared_randomness import SharedRandomness
from ..candidates import Ints, Pool
from ..consistency import Mode, View
from ..interfaces import Tokenizer


@dataclass(frozen=True)
class PromptContext:
    """The prompt of a text, and how its tokens are verified.

    Attributes:
        tokenizer: the model's.
        prompt: the text that the model continues.
        prompt_ids: its tokens.
        view: whether the prompt is sent with what follows it: `whole`, or `continuation`.
        mode: which lists of tokens may stand at the beginning of a text, see `ticore.Verifier`.
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
        mass: int64[n], the choices' unnormalized probabilities, 0 to 2^30 each.
        kept: all tokens that this step can write, whatever the shared random numbers are: those of
            `ids`, or, where a choice stands for a group of tokens, all tokens of the groups.
        group: int64[len(kept)], which choice each of these belongs to.
    """

    ids: Ints
    mass: Ints
    kept: Pool
    group: Ints

    @classmethod
    def of(cls, pool: Pool) -> Choices:
        """Each token of `pool` is a choice."""
        return cls(pool.ids, pool.unnormalized_probs, pool, np.arange(len(pool)))


class Session(Protocol):
    """One text that grows, the same on both sides."""

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        """What a codec may choose from.

        Args:
            pool: the step's candidates.
            outside: all other tokens, the most probable first. They are used where no candidate
                can be read back.

        Raises:
            CapacityError: no token at all can be read back.
        """
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


@runtime_checkable
class SharingSession(Session, Protocol):
    """A Session that draws random numbers which both sides share."""

    def share(self, randomness: SharedRandomness) -> None:
        """Use these random numbers from the next step on."""
        ...


@runtime_checkable
class BranchingSession(Session, Protocol):
    """A Session whose choices may take tokens of the text back. Its choices are taken by `take`."""

    def take(self, choices: Choices, index: int) -> tuple[int, Sequence[int]]:
        """Go on with a choice.

        Args:
            choices: what `refine` returned last.
            index: of the choice.

        Returns:
            (back, tokens): how many tokens are taken back from the end of the text, and which ones
            come in their place.
        """
        ...


class ReceivedText(Protocol):
    """A text that was received, read token by token."""

    @property
    def known_ids(self) -> Sequence[int] | None:
        """All tokens after the prompt; None where they depend on each step's choices."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether the text has no further token."""
        ...

    def locate(self, choices: Choices) -> int:
        """Read the next token: its index in `choices`. The text must not be `exhausted`.

        Raises:
            OutsidePoolError: the text does not go on with one of them.
        """
        ...


class Disambiguation(Protocol):
    """Makes the sessions and the received texts of one prompt. Thread-safe."""

    def start(self) -> Session:
        """A session for one text that begins after the prompt."""
        ...

    def read(self, text: str) -> ReceivedText:
        """A text that was received.

        Raises:
            ExtractionError: the text cannot have been written after this prompt.
        """
        ...
