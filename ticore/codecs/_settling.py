"""The base of codecs that stop once the last bit of the message is settled."""

from __future__ import annotations

from copy import copy
from typing import Self

from .._support.shared_randomness import RandomBitStream, SharedRandomness
from ..errors import IncompleteMessageError
from ._base import Floats, Weights
from ._bits import BitSource


def shares(weights: Weights) -> Floats:
    """Each weight's share of their sum, float64[n]."""
    probabilities: Floats = weights / weights.sum()
    return probabilities


class SettlingWriter:
    """A Writer without `choose`: it counts the settled bits.

    Attributes:
        settled: number of leading bits that the choices made so far determine.
    """

    def __init__(self, bits: BitSource) -> None:
        self._bits = bits
        self.settled = 0

    @property
    def done(self) -> bool:
        return self.settled >= self._bits.length


def too_short(missing: int) -> IncompleteMessageError:
    """The error of a text that lacks some bits of the message."""
    return IncompleteMessageError(
        f"the text ends {missing:,} bits before the message does; "
        f"it was cut, or the message is shorter than expected"
    )


class SettlingReader:
    """A ForkingReader without `observe`: only settled bits can be read.

    What it keeps is never changed in place, or `fork` copies that as well.
    """

    def fork(self) -> Self:
        return copy(self)

    def remainder(self, count: int) -> int:
        if count <= 0:
            return 0
        raise too_short(count)


class KeyedReader(SettlingReader):
    """A SettlingReader that draws random numbers at each step.

    Args:
        randomness: the random numbers that both sides share.
    """

    def __init__(self, randomness: SharedRandomness) -> None:
        self._randomness = randomness
        self._step = 0

    def next_numbers(self) -> RandomBitStream:
        """The random numbers of the next step."""
        self._step += 1
        return self._randomness.at(self._step - 1)
