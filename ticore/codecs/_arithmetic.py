"""Arithmetic coding run backwards: each token narrows an interval around a number, the message.

Every token divides the interval in proportion to its weights; the writer takes the part that
holds the message, so a uniform message makes exact samples of the pool.

Why it is exact:

1. The interval [low, low + width) has integer ends. It is divided into parts with integer ends that
   cover it without gap or overlap. Writer and reader divide it in the same way, so the number is
   always in the part that was chosen, and nothing is lost to rounding.
2. The grid is refined so that `width` stays above 2^96. So the share of a part differs from its
   weight by less than 2^-64 of it.
3. Leading bits that both ends share can never change again. They are returned and dropped, so the
   numbers stay short, and the cost per token does not depend on the length of the message.

Example: of [0, 16) the weights 3 : 1 make the parts [0, 12) and [12, 16). The message 1101... is in
the second one, whose ends 1100 and 1111 share the bits 11: these two bits are settled.

Invariant, before and after each token: low + width <= 2^window, and the number's next `window`
bits, as an integer, are in [low, low + width).
"""

from __future__ import annotations

from copy import copy
from typing import Literal, Self

import numpy as np

from ..errors import SettingsError
from ._base import Floats, Reader, Weights, Writer
from ._bits import BitSource
from ._parts import missing_bits, part, part_of
from ._settling import SettlingReader, SettlingWriter, shares, too_short

StopRule = Literal["exact", "paper"]


class ArithmeticCodec:
    """Arithmetic coding with one of two rules for when a message is complete.

    The unit is the value of the message's last bit.

    `exact`: the interval lies inside one unit of the message, so its bits are settled whatever
    follows. Choices follow the pool to the end, each share to within 2^-64 of it. All of the pools'
    entropy carries bits, except at the end of the message: 97 % of it with a message of 128 bits,
    measured on texts of `tiny-en`.

    `paper`: the distance from the interval's low end to the message is less than one unit, as in
    Yan & Murawaki. Texts are shorter and diverge by about 1.8 bits each. The reader has to know the
    length of the message and the end of the text.

    Args:
        stop: the rule.

    Raises:
        SettingsError: the rule is unknown.
    """

    def __init__(self, stop: StopRule = "exact") -> None:
        if stop not in ("exact", "paper"):
            raise SettingsError(f"stop: expected 'exact' or 'paper', found {stop!r}")
        self.stop: StopRule = stop

    def writer(self, bits: BitSource) -> Writer:
        return _ArithmeticWriter(bits) if self.stop == "exact" else _PaperWriter(bits)

    def reader(self) -> Reader:
        return _ArithmeticReader() if self.stop == "exact" else _PaperReader()

    def emitted(self, weights: Weights) -> Floats:
        return shares(weights)


class _Interval:
    """[low, low + width) within a window of bits; all bits before the window are settled."""

    def __init__(self) -> None:
        self.low, self.width, self.window = 0, 1, 0

    def refine(self) -> int:
        """Make room to divide into 2^32 parts; return by how many bits the window grew."""
        grow = missing_bits(self.width)
        self.low <<= grow
        self.width <<= grow
        self.window += grow
        return grow

    def narrow(self, ends: Weights, index: int) -> tuple[int, int]:
        """Go to part `index` of those that end at `ends`; return the (value, count) it settles."""
        start, self.width = part(ends, index, self.width)
        self.low += start
        keep = (self.low ^ (self.low + self.width - 1)).bit_length()
        value, count = self.low >> keep, self.window - keep
        self.low -= value << keep
        self.window = keep
        return value, count


class _ArithmeticWriter(SettlingWriter):
    def __init__(self, bits: BitSource) -> None:
        super().__init__(bits)
        self._interval = _Interval()
        self._number = 0  # the next `window` bits

    def choose(self, weights: Weights) -> int:
        if len(weights) == 1:
            return 0
        interval = self._interval
        grown = interval.refine()
        self._number = self._number << grown | self._bits.take(grown)
        ends = np.cumsum(weights)
        index = part_of(ends, self._number - interval.low, interval.width)
        value, count = interval.narrow(ends, index)
        self._number -= value << interval.window
        self.settled += count
        return index


class _ArithmeticReader(SettlingReader):
    def __init__(self) -> None:
        self._interval = _Interval()

    def fork(self) -> Self:
        other = super().fork()
        other._interval = copy(self._interval)
        return other

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        if len(weights) == 1:
            return 0, 0
        self._interval.refine()
        return self._interval.narrow(np.cumsum(weights), index)


class _PaperWriter(_ArithmeticWriter):
    """Stops once low > message - 1. The message is an integer: no random bits follow it."""

    def __init__(self, bits: BitSource) -> None:
        super().__init__(bits)
        self._chosen = False

    @property
    def done(self) -> bool:
        if self._bits.length == 0:
            return True
        left = self._bits.length - self.settled
        if left <= 0:
            return True
        # In units of 2^-fraction of the message's last bit. An untouched interval decides nothing.
        fraction = self._interval.window - left
        gap = self._number - self._interval.low
        return self._chosen and fraction >= 0 and gap < 1 << fraction

    def choose(self, weights: Weights) -> int:
        self._chosen = True
        return super().choose(weights)


class _PaperReader(_ArithmeticReader):
    def remainder(self, count: int) -> int:
        """The least integer that is not below the interval."""
        if count <= 0:
            return 0
        fraction = self._interval.window - count
        if fraction < 0:
            raise too_short(count)
        return -(-self._interval.low >> fraction)
