"""Meteor: the message, with a new mask at every step, is the random number that samples a token."""

from __future__ import annotations

from itertools import count

import numpy as np

from .._support.shared_randomness import SharedRandomness
from ._base import Floats, Reader, Weights, Writer
from ._bits import BitSource
from ._settling import KeyedReader, SettlingWriter, shares


class MeteorCodec:
    """The next bits of the message, XOR a shared mask, choose the token whose interval holds them.

    Every number in a token's interval chooses it, so the reader learns the leading bits that all of
    them share. The other bits are used again: the next step masks them with another mask, so that
    the second use does not show. A masked number is uniform, so choices follow the pool exactly,
    whatever the message is.

    A pool of 16, 256 or 4096 tokens carries 0.51, 0.65 or 0.75 of its entropy, computed for
    logits that are normal with deviation 3.

    Args:
        randomness: random numbers that both sides share, of a key that serves this text alone.

    Source: Kaptchuk, Jois, Green & Rubin, "Meteor: Cryptographically Secure Steganography for
    Realistic Distributions", CCS 2021, section 5.2.
    """

    def __init__(self, randomness: SharedRandomness) -> None:
        self._randomness = randomness

    def writer(self, bits: BitSource) -> Writer:
        return _MeteorWriter(bits, self._randomness)

    def reader(self) -> Reader:
        return _MeteorReader(self._randomness)

    def emitted(self, weights: Weights) -> Floats:
        return shares(weights)


def _prefix(ends: Weights, index: int, width: int) -> tuple[int, int]:
    """(value, count): the leading bits shared by all `width`-bit numbers of part `index`."""
    first = int(ends[index - 1]) if index else 0
    differing = (first ^ int(ends[index]) - 1).bit_length()
    return first >> differing, width - differing


class _MeteorWriter(SettlingWriter):
    def __init__(self, bits: BitSource, randomness: SharedRandomness) -> None:
        super().__init__(bits)
        self._steps = map(randomness.at, count())
        self._ahead, self._ahead_count = 0, 0  # bits of the message that are not settled

    def choose(self, weights: Weights) -> int:
        numbers, ends = next(self._steps), np.cumsum(weights)
        width = int(ends[-1]).bit_length() - 1
        missing = max(0, width - self._ahead_count)
        self._ahead = self._ahead << missing | self._bits.take(missing)
        self._ahead_count += missing
        number = self._ahead >> self._ahead_count - width ^ numbers.take(width)
        index = int(np.searchsorted(ends, number, side="right"))
        _, size = _prefix(ends, index, width)
        self._ahead_count -= size
        self._ahead &= (1 << self._ahead_count) - 1
        self.settled += size
        return index


class _MeteorReader(KeyedReader):
    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        numbers, ends = self.next_numbers(), np.cumsum(weights)
        width = int(ends[-1]).bit_length() - 1
        value, size = _prefix(ends, index, width)
        return value ^ numbers.take(width) >> width - size, size
