"""What `torch.randperm` draws on a CUDA GPU, computed with NumPy.

Each number gets a random key, and the numbers are sorted by their keys. Numbers with equal keys are
then shuffled once more among themselves.

Sources: ATen/native/cuda/Randperm.cu and Randperm.cuh, DistributionTemplates.h
(`random_from_to_kernel`); curand_philox4x32_x.h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._evidence import Ints
from ._philox import UInt64Array, philox

_WORD = 0xFFFFFFFF
_HALF = np.uint64(32)
BLOCK = 256  # threads; a grid has whole blocks
_KEYS_OF_A_CALL = 2  # Philox gives four words, a key takes two
_CHUNK = 1 << 14  # keys that are drawn together: what they need stays in the processor's cache


@dataclass(frozen=True)
class CudaShuffle:
    """`torch.randperm` on a GPU, of at most 2^30 numbers. See `Shuffle`.

    Attributes:
        threads: that the GPU runs at once: its multiprocessors times the threads of each. With no
            more numbers than this, all GPUs draw the same.
    """

    threads: int

    seed_bits = 64

    def is_among_first(self, seed: int, number: int, count: int, size: int) -> bool:
        """See `Shuffle`."""
        keys = _keys(seed, size, self.threads)
        key = keys[number]
        smaller = int(np.count_nonzero(keys < key))
        if smaller >= count:
            return False
        if smaller + int(np.count_nonzero(keys == key)) <= count:
            return True
        return number in self.first(seed, count, size)

    def first(self, seed: int, count: int, size: int) -> Ints:
        """See `Shuffle`."""
        keys = _keys(seed, size, self.threads)
        order: Ints = np.argsort(keys, kind="stable").astype(np.int64)
        in_order = keys[order]
        same = np.flatnonzero(in_order[1:] == in_order[:-1])
        for start in same[np.diff(same, prepend=-2) > 1].tolist():
            end = int(np.searchsorted(in_order, in_order[start], side="right"))
            order[start:end] = self._shuffled_again(order[start:end], seed, start, size)
        return order[:count]

    def _shuffled_again(self, equal: Ints, seed: int, start: int, size: int) -> Ints:
        """The numbers of equal keys, the first of which stands at place `start`, as CUDA's thread
        of this place shuffles them: from the last to the second, each swaps with one before it or
        itself. Its words are those after the words of the keys."""
        drawn = _rounds(size, grid(size, self.threads))
        calls = np.arange(drawn, drawn + len(equal) // 4 + 1, dtype=np.uint64)
        words = np.stack(_words(calls, start, seed), axis=1).ravel().tolist()
        shuffled = equal.copy()
        for place, word in zip(range(len(equal) - 1, 0, -1), words, strict=False):
            other = word % (place + 1)
            shuffled[[place, other]] = shuffled[[other, place]]
        return shuffled


# Keys take 8 bytes each: with the largest vocabulary, all of these take 128 MiB.
@lru_cache(maxsize=4)
def _keys(seed: int, size: int, threads: int) -> UInt64Array:
    """uint64[size]: the lowest bits of the keys, by which the numbers are sorted.

    The threads draw the keys of as many places as there are threads, then those of the next ones,
    and so on: two with each call of their generators.
    """
    drawn = np.empty(size, np.uint64)
    drawing = grid(size, threads)
    for begin in range(0, size, drawing):
        call, second = divmod(begin // drawing, _KEYS_OF_A_CALL)
        end = min(begin + drawing, size)
        for start in range(begin, end, _CHUNK):
            stop = min(start + _CHUNK, end)
            words = _words(call, np.arange(start - begin, stop - begin, dtype=np.uint64), seed)
            upper, lower = words[2:] if second else words[:2]
            drawn[start:stop] = upper << _HALF | lower
    bits = _sorted_bits(size)
    # Keys are drawn from the least integer of 32 or 64 bits to the one before the largest. Adding
    # the least one changes the highest bit alone; sorting takes that into account.
    drawn %= np.uint64(_WORD if bits <= 32 else (1 << 64) - 1)
    drawn &= np.uint64((1 << bits) - 1)
    return drawn


def _words(
    calls: UInt64Array | int, thread: UInt64Array | int, seed: int
) -> tuple[UInt64Array, UInt64Array, UInt64Array, UInt64Array]:
    """Four words of each call of the generator of each thread: uint64 arrays, below 2^32."""
    zero, low, high = (np.array([word], np.uint64) for word in (0, seed & _WORD, seed >> 32))
    counter = np.atleast_1d(np.asarray(calls, np.uint64)), zero
    return philox((*counter, np.atleast_1d(np.asarray(thread, np.uint64)), zero), (low, high))


def grid(size: int, threads: int) -> int:
    """The number of threads that draw the keys of `size` numbers, if `threads` run at once."""
    return min(threads, -(-size // BLOCK) * BLOCK)


def _rounds(size: int, drawing: int) -> int:
    """How often each of the threads that draw calls its generator."""
    return (size - 1) // (drawing * _KEYS_OF_A_CALL) + 1


def _sorted_bits(size: int) -> int:
    """The bits of a key: enough that all of them differ with a probability of 0.9."""
    return math.ceil(math.log2(size - (6 * size * size + 1) / (12 * math.log(0.9))))
