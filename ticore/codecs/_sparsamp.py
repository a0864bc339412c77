"""SparSamp: each value of a block of the message is a point on a circle; the point chooses a token.

Invariant, before and after each token: the choices so far leave N values that the block can have.
The value that the writer hides is number k of these, 0 <= k < N.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from .._support.checks import require_integer
from .._support.shared_randomness import RandomBitStream, SharedRandomness
from ._base import Floats, Reader, Weights, Writer
from ._bits import BitSource
from ._settling import KeyedReader, SettlingWriter, shares

_MOST_BLOCK_BITS = 1024


class SparSampCodec:
    """N points on a circle, turned by a shared random number; the block's point chooses a token.

    The points are spread evenly, one for each of the N values that the block can have.
    The tokens divide the circle by their weights. The points in the chosen token's part are the
    values that the block can still have. Once only one is left, the block is settled and the next
    one begins. The random number turns each point to a uniform place, so choices follow the pool
    exactly, whatever the message is.

    Short blocks carry less: what the last token of a block could carry beyond the block is lost.
    Long blocks lose more to an error: if the reader's weights differ a little from the writer's at
    one step, the block of that step is probably misread, and those after it are read right.
    Measured on pools of 64 tokens whose logits are normal with deviation 3; the error is one logit
    that differs by 2^-10:

    =============================  ====  ====  ====  ====  ====  ====
    block_bits                        8    16    32    64   128   256
    =============================  ====  ====  ====  ====  ====  ====
    bits carried / pools' entropy  0.82  0.90  0.95  0.97  0.98  0.99
    all right despite one error    1.00  0.97  0.53  0.33  0.20  0.11
    right after the error's block  1.00  1.00  1.00  1.00  1.00  1.00
    =============================  ====  ====  ====  ====  ====  ====

    Args:
        randomness: random numbers that both sides share, of a key that serves this text alone.
        block_bits: bits per block, 1 to 1024. The message is carried in whole blocks.

    Raises:
        SettingsError: `block_bits` is something else.

    Source: Wang et al., "SparSamp: Efficient Provably Secure Steganography Based on Sparse
    Sampling", USENIX Security 2025.
    """

    def __init__(self, randomness: SharedRandomness, block_bits: int = 64) -> None:
        self._randomness = randomness
        self._block_bits = require_integer("block_bits", block_bits, 1, _MOST_BLOCK_BITS)

    def writer(self, bits: BitSource) -> Writer:
        return _SparSampWriter(bits, self._randomness, self._block_bits)

    def reader(self) -> Reader:
        return _SparSampReader(self._randomness, self._block_bits)

    def emitted(self, weights: Weights) -> Floats:
        return shares(weights)


class _Circle:
    """The parts of one step, and the random number that turns the points."""

    def __init__(self, weights: Weights, numbers: RandomBitStream) -> None:
        self._ends = np.cumsum(weights)
        self._bits = int(self._ends[-1]).bit_length() - 1
        self._turn = numbers.take(self._bits)

    def part_of(self, k: int, size: int) -> int:
        """The part that holds point `k` of `size`.

        The point is at turn + k * total / size, modulo the total. Parts end at whole numbers, so
        the fraction does not matter, and the rest of the sum is as uniform as the turn.
        """
        point = self._turn + (k << self._bits) // size & (1 << self._bits) - 1
        return int(np.searchsorted(self._ends, point, side="right"))

    def points_in(self, index: int, size: int) -> tuple[int, int]:
        """(first, count): the points of part `index` are first, first + 1, ... modulo `size`."""
        start = int(self._ends[index - 1]) if index else 0
        first = self._points_before(start, size)
        return first, self._points_before(int(self._ends[index]), size) - first

    def _points_before(self, place: int, size: int) -> int:
        # Least k with turn + k * total / size >= place.
        return -((self._turn - place) * size >> self._bits)


class _SparSampWriter(SettlingWriter):
    def __init__(self, bits: BitSource, randomness: SharedRandomness, block_bits: int) -> None:
        super().__init__(bits)
        self._steps = map(randomness.at, count())
        self._block_bits = block_bits
        self._k, self._size = 0, 1

    def choose(self, weights: Weights) -> int:
        numbers = next(self._steps)
        if len(weights) == 1:
            return 0
        if self._size == 1:
            self._k, self._size = self._bits.take(self._block_bits), 1 << self._block_bits
        circle = _Circle(weights, numbers)
        index = circle.part_of(self._k, self._size)
        first, left = circle.points_in(index, self._size)
        self._k, self._size = (self._k - first) % self._size, left
        if left == 1:
            self.settled += self._block_bits
        return index


class _SparSampReader(KeyedReader):
    def __init__(self, randomness: SharedRandomness, block_bits: int) -> None:
        super().__init__(randomness)
        self._block_bits = block_bits
        self._size = 1 << block_bits
        self._taken: tuple[tuple[int, int], ...] = ()  # (first, size) of the block's steps

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        numbers = self.next_numbers()
        if len(weights) == 1:
            return 0, 0
        first, left = _Circle(weights, numbers).points_in(index, self._size)
        self._taken += ((first, self._size),)
        if left > 1:
            self._size = left
            return 0, 0
        # With none left, the writer cannot have chosen this part: the block ends as with one left.
        k = 0
        for first, size in reversed(self._taken):
            k = (k + first) % size
        self._taken, self._size = (), 1 << self._block_bits
        return k, self._block_bits
