"""What is looked for in a text whose tokens are not certain, and how that is known to be right."""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

from ..codecs import Reader
from ..errors import AlteredTextError

T_co = TypeVar("T_co", covariant=True)


class Sought(Protocol[T_co]):
    """Takes the bits of some tokens, and tells a right payload from a wrong one."""

    @property
    def bits_needed(self) -> int:
        """How many bits are missing, as far as that is known."""
        ...

    @property
    def complete(self) -> bool:
        """Whether there are all bits."""
        ...

    @property
    def least_bits(self) -> int:
        """How many there are at least in all."""
        ...

    def fork(self) -> Self:
        """One that has taken the same bits, and goes on by itself."""
        ...

    def feed(self, value: int, count: int) -> None:
        """Take `count` bits, the most significant first."""
        ...

    def payload(self, most_bits: int | None = None) -> T_co:
        """What the bits say. Raises ExtractionError: they are too few, or not right.

        Args:
            most_bits: of the longest payload that a text can hold; None if that is not known.
        """
        ...


def take_rest(sought: Sought[Any], reader: Reader) -> None:
    """Take the bits that the end of a text settles, by the paper's stop.

    Args:
        sought: has taken all bits before.
        reader: has read all tokens.

    Raises:
        ExtractionError: the text lacks bits, or its tokens cannot have been written.
    """
    missing = sought.bits_needed
    rest = reader.remainder(missing)
    # Of a text as it was written, the message begins with the bits that were taken.
    if rest >> missing:
        raise AlteredTextError(
            "expected a text whose tokens lead to a message, found one whose tokens lead past it; "
            "the text was changed, or was written with other settings"
        )
    sought.feed(rest, missing)
