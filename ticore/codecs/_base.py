"""What a codec is: message bits choose among weighted candidates, and the choices give them back.

A codec sees weights and indices, never tokens, text or models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from ..candidates import Ints
from ..errors import SettingsError
from ._bits import BitSource

Floats = npt.NDArray[np.float64]

Weights = Ints
"""Integer weights int64[n], each at least 1, summing to a power of two of at most 2^32. They are
read-only: a codec that needs others, such as sorted ones, makes a copy."""


class Writer(Protocol):
    """Chooses candidates so that the choices carry one message."""

    @property
    def done(self) -> bool:
        """All bits of the message can be read from the choices made so far."""
        ...

    @property
    def settled(self) -> int:
        """Number of leading bits that the choices made so far determine."""
        ...

    def choose(self, weights: Weights) -> int:
        """Index of the next choice. After the message, choices are random."""
        ...


class Reader(Protocol):
    """Reads the choices, and gives the bits that they determine."""

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        """Read one choice.

        Args:
            weights: int64[n], what was chosen from.
            index: the choice, 0 to n - 1.

        Returns:
            (value, count): the bits that it settled, the first bit highest. Bits after the end of
            the message mean nothing.
        """
        ...

    def remainder(self, count: int) -> int:
        """The `count` bits after the settled ones, for rules that stop before all are settled.

        Raises:
            IncompleteMessageError: the choices do not determine them.
        """
        ...


@runtime_checkable
class ForkingReader(Reader, Protocol):
    """A Reader that can go on in several ways, which a search needs. The method is optional."""

    def fork(self) -> Self:
        """A Reader that has read the same choices. Neither notices what the other one reads."""
        ...


def forked(reader: Reader) -> Reader:
    """A Reader that has read the same choices. Raises SettingsError if it is no ForkingReader."""
    # A search asks for each of its branches: Python compares an object with a protocol slowly.
    fork: Callable[[], Reader] | None = getattr(reader, "fork", None)
    if fork is None:
        raise SettingsError(
            f"codec: expected one whose readers can fork, which a search needs, found "
            f"{type(reader).__name__}; give it a method fork, or use another codec"
        )
    return fork()


class Codec(Protocol):
    """Makes the Writer and the Reader of one text, which mirror each other."""

    def writer(self, bits: BitSource) -> Writer:
        """A Writer of these bits."""
        ...

    def reader(self) -> Reader:
        """A Reader of what a `writer` wrote."""
        ...

    def emitted(self, weights: Weights) -> Floats:
        """Probabilities float64[n] of the choices that a uniform message makes.

        For most codecs these are the weights' own shares.
        """
        ...
