"""Discop: of two copies of a distribution, a bit says from which one to sample."""

from __future__ import annotations

from itertools import count

from ..draws import Bits, Draws
from .base import Floats, Reader, Weights, Writer
from .bits import BitSource
from .shared import SettlingReader, SettlingWriter, shares
from .tree import Tree


class DiscopCodec:
    """At each node of the pool's Huffman tree a shared draw and the next bit say where to go.

    The draw is a point on a circle that the node's children divide by their weights; the copy for
    bit 1 looks half a turn further. If both copies find the same child, the bit is kept for
    later. Each copy for itself samples by the weights, so choices follow the pool exactly,
    whatever the message says: who does not know the draws sees no difference.

    A pool of 16, 256 or 4096 tokens carries 0.82, 0.92 or 0.95 of its entropy, computed for
    logits that are normal with deviation 3.

    Args:
        draws: random numbers that the reader has too, of a key that serves this text alone.

    Source: Ding et al., "Discop: Provably Secure Steganography in Practice Based on 'Distribution
    Copies'", IEEE S&P 2023; the recursive form.
    """

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def writer(self, bits: BitSource) -> Writer:
        return _DiscopWriter(bits, self._draws)

    def reader(self) -> Reader:
        return _DiscopReader(self._draws)

    def emitted(self, weights: Weights) -> Floats:
        return shares(weights)


def _copies(tree: Tree, node: int, numbers: Bits) -> tuple[int, int]:
    """The child, 0 or 1, that each of the two copies finds at a node."""
    # Twice the weight all around, so that half a turn is a whole number.
    turn = 2 * int(tree.weights[node])
    border = 2 * int(tree.weights[tree.children(node)[0]])
    point = numbers.below(turn)
    return int(point >= border), int((point + turn // 2) % turn >= border)


class _DiscopWriter(SettlingWriter):
    def __init__(self, bits: BitSource, draws: Draws) -> None:
        super().__init__(bits)
        self._steps = map(draws.at, count())

    def choose(self, weights: Weights) -> int:
        numbers, tree = next(self._steps), Tree(weights)
        node = tree.root
        while node >= len(weights):
            copies, bit = _copies(tree, node, numbers), 0
            if copies[0] != copies[1]:
                bit = self._bits.take(1)
                self.settled += 1
            node = tree.children(node)[copies[bit]]
        return node


class _DiscopReader(SettlingReader):
    def __init__(self, draws: Draws) -> None:
        self._steps = map(draws.at, count())

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        numbers, tree = next(self._steps), Tree(weights)
        value = size = 0
        for node, child in tree.path(index):
            copies = _copies(tree, node, numbers)
            if copies[0] != copies[1]:
                value, size = value << 1 | copies.index(child), size + 1
        return value, size
