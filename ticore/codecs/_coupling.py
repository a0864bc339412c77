"""Minimum-entropy coupling: the token says as much about a block of the message as it can.

Example: of a block with the values 0 and 1, equally probable, and the weights 2 : 1 : 1, the greedy
coupling gives value 0 all of the first token and value 1 the other two. So each token says which
value it is. The writer of value 1 picks one of its two tokens, by their weights.

Invariant, before and after each token: both sides know what is left of the block, the masses of
the values that it can still have, and the writer's is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from itertools import accumulate, count

from .._support.checks import require_integer
from .._support.shared_randomness import SharedRandomness
from ._base import Floats, Reader, Weights, Writer
from ._bits import BitSource
from ._settling import KeyedReader, SettlingWriter, shares

_MOST_BLOCK_BITS = 12
_MASS_BITS = 192  # of what is left of a block, so that a long block takes no more and more time

Left = Mapping[int, int]
"""The mass of each value that a block can still have. It is replaced and never changed."""


class CouplingCodec:
    """Each token is coupled with a block so that the two together have little entropy.

    A greedy coupling takes the largest mass left of the values and of the tokens, and gives one to
    the other as far as both go. The writer takes one of its value's tokens, with the shares that
    the coupling gives them. The block is XORed with shared random numbers, and shared random
    numbers take the token. So choices follow the pool to within 2^-64 of each share, whatever the
    message is.

    The published form couples all blocks of a message side by side, and calls a block read when its
    entropy is small, so that some are misread. Here one block follows the other, and each is read
    when one value is left. So no message is misread, but what the last token of a block could carry
    beyond the block is lost. Masses are integers, kept to 2^-180 of their sum. Measured on pools of
    64 tokens whose logits are normal with deviation 3:

    =============================  ====  ====  ====
    block_bits                        4     8    10
    bits carried / pools' entropy  0.63  0.78  0.83
    =============================  ====  ====  ====

    Args:
        randomness: random numbers that both sides share, of a key that serves this text alone.
        block_bits: bits per block, 1 to 12. The message is carried in whole blocks. The time per
            token grows with 2^block_bits.

    Raises:
        SettingsError: `block_bits` is something else.

    Source: de Witt et al., "Perfectly Secure Steganography Using Minimum Entropy Coupling", ICLR
    2023, algorithms 1 and 2; the greedy coupling of Kocaoglu et al., "Entropic Causal Inference",
    AAAI 2017.
    """

    def __init__(self, randomness: SharedRandomness, block_bits: int = 8) -> None:
        self._randomness = randomness
        self._block_bits = require_integer("block_bits", block_bits, 1, _MOST_BLOCK_BITS)

    def writer(self, bits: BitSource) -> Writer:
        return _CouplingWriter(bits, self._randomness, self._block_bits)

    def reader(self) -> Reader:
        return _CouplingReader(self._randomness, self._block_bits)

    def emitted(self, weights: Weights) -> Floats:
        return shares(weights)


def coupled(left: Left, weights: Weights) -> dict[int, dict[int, int]]:
    """For each token the masses of the values that it is coupled with.

    The masses of a token's values sum to its weight times the masses left, and the masses of a
    value to its own times the weights. Of equal masses the lower value or token comes first.

    >>> import numpy as np
    >>> coupled({0: 1, 1: 1}, np.array([2, 1, 1]))
    {0: {0: 4}, 1: {1: 2}, 2: {1: 2}}
    """
    masses = weights.tolist()
    total, whole = sum(masses), sum(left.values())
    values = [(-mass * total, value) for value, mass in left.items()]
    tokens = [(-mass * whole, token) for token, mass in enumerate(masses)]
    heapify(values)
    heapify(tokens)
    found: dict[int, dict[int, int]] = {}
    while values:
        (less, value), (other, token) = heappop(values), heappop(tokens)
        common = max(less, other)
        found.setdefault(token, {})[value] = -common
        if less < common:
            heappush(values, (less - common, value))
        if other < common:
            heappush(tokens, (other - common, token))
    return found


def _scaled(left: Left) -> Left:
    """The same shares, in numbers that do not grow; each value keeps some mass."""
    excess = max(0, sum(left.values()).bit_length() - _MASS_BITS)
    return {value: max(1, mass >> excess) for value, mass in left.items()}


class _CouplingWriter(SettlingWriter):
    def __init__(self, bits: BitSource, randomness: SharedRandomness, block_bits: int) -> None:
        super().__init__(bits)
        self._steps = map(randomness.at, count())
        self._block_bits = block_bits
        self._value = 0
        self._left: Left = {0: 1}

    def choose(self, weights: Weights) -> int:
        numbers = next(self._steps)
        if len(weights) == 1:
            return 0
        if len(self._left) == 1:
            self._value = self._bits.take(self._block_bits) ^ numbers.take(self._block_bits)
            self._left = dict.fromkeys(range(1 << self._block_bits), 1)
        cells = coupled(self._left, weights)
        mine = [(token, cell[self._value]) for token, cell in cells.items() if self._value in cell]
        place = numbers.below(sum(mass for _, mass in mine))
        ends = accumulate(mass for _, mass in mine)
        token = next(token for (token, _), end in zip(mine, ends, strict=True) if place < end)
        self._left = _scaled(cells[token])
        if len(self._left) == 1:
            self.settled += self._block_bits
        return token


class _CouplingReader(KeyedReader):
    def __init__(self, randomness: SharedRandomness, block_bits: int) -> None:
        super().__init__(randomness)
        self._block_bits = block_bits
        self._mask = 0
        self._left: Left = {0: 1}

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        numbers = self.next_numbers()
        if len(weights) == 1:
            return 0, 0
        if len(self._left) == 1:
            self._mask = numbers.take(self._block_bits)
            self._left = dict.fromkeys(range(1 << self._block_bits), 1)
        self._left = _scaled(coupled(self._left, weights)[index])
        if len(self._left) > 1:
            return 0, 0
        [value] = self._left
        return value ^ self._mask, self._block_bits
