"""Huffman coding run backwards: the bits of the message lead from the root of a tree to a token."""

from __future__ import annotations

import numpy as np

from ._base import Floats, Reader, Weights, Writer
from ._bits import BitSource
from ._settling import SettlingReader, SettlingWriter
from ._tree import HuffmanTree


class HuffmanCodec:
    """At each node of the pool's Huffman tree the next bit chooses a child.

    It needs no shared randomness, but it only approximates the pool: a token at depth d is chosen
    with probability 2^-d. Computed from `emitted`, as means of 100 pools with normal logits of
    deviation 3, and for a pool of Zipf's law:

    ==================================  ====  ====  ====
    tokens in the pool                    16   256  4096
    ==================================  ====  ====  ====
    normal: divergence, bits per token  0.37  0.09  0.03
    normal: bits carried / entropy      1.41  1.04  1.01
    Zipf: divergence, bits per token    0.03  0.04  0.02
    Zipf: bits carried / entropy        1.04  1.04  0.99
    ==================================  ====  ====  ====

    Source: Yang et al., "RNN-Stega: Linguistic Steganography Based on Recurrent Neural Networks",
    IEEE TIFS 2019.
    """

    def writer(self, bits: BitSource) -> Writer:
        return _HuffmanWriter(bits)

    def reader(self) -> Reader:
        return _HuffmanReader()

    def emitted(self, weights: Weights) -> Floats:
        probabilities: Floats = np.ldexp(1.0, -HuffmanTree(weights).lengths())
        return probabilities


class _HuffmanWriter(SettlingWriter):
    def choose(self, weights: Weights) -> int:
        tree = HuffmanTree(weights)
        node = tree.root
        while node >= len(weights):
            node = tree.children(node)[self._bits.take(1)]
            self.settled += 1
        return node


class _HuffmanReader(SettlingReader):
    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        value, path = 0, HuffmanTree(weights).path(index)
        for _, child in path:
            value = value << 1 | child
        return value, len(path)
