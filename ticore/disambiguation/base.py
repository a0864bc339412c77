"""What a disambiguation is: how writer and reader agree on the tokens of a text.

A reader has only text. A disambiguation removes from each step's pool whatever would leave the
reader in doubt, and finds the writer's tokens in the text again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ..candidates import Pool
from ..consistency import Verifier


class Session(Protocol):
    """One text that grows, the same on both sides."""

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Pool:
        """What a codec may choose from: never empty.

        Args:
            pool: the step's candidates.
            outside: all other tokens, the most probable first, for when none of them will do.

        Raises:
            CapacityError: no token at all will do.
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


class TextReader(Protocol):
    """Walks along a text that was received."""

    @property
    def exhausted(self) -> bool:
        """The text has no further token."""
        ...

    def locate(self, pool: Pool) -> int:
        """Index in the refined `pool` of the text's next token, and go on behind it.

        Raises OutsidePoolError where the text goes on with none of them.
        """
        ...


class Disambiguation(Protocol):
    """Makes sessions and readers for one tokenizer, one view and one prompt."""

    def start(self) -> Session: ...

    def read(self, text: str) -> TextReader:
        """Raises ExtractionError where the text cannot be one of this prompt's."""
        ...


class DisambiguationFactory(Protocol):
    """How the registry of this package makes one."""

    def __call__(
        self, verifier: Verifier, prompt: str, prompt_ids: Sequence[int]
    ) -> Disambiguation:
        """`verifier` brings the tokenizer, the mode and the view."""
        ...
