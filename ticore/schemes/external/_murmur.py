"""MurmurHash3_x86_32 of whole words.

Source: Appleby, SMHasher, MurmurHash3.cpp (public domain).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]

_WORD = np.uint64(0xFFFFFFFF)


def murmur3(words: Iterable[UInt64Array], seed: int = 0) -> UInt64Array:
    """The hash of the bytes of some words, each in little-endian order.

    Args:
        words: uint64 arrays that broadcast together, all below 2^32.
        seed: from 0 to 2^32 - 1.

    Returns:
        A uint64 array, below 2^32.
    """
    state: UInt64Array = np.array(seed, np.uint64)
    length = 0
    for word in words:
        mixed = _times(_rotated(_times(word, 0xCC9E2D51), 15), 0x1B873593)
        state = (_times(_rotated(state ^ mixed, 13), 5) + np.uint64(0xE6546B64)) & _WORD
        length += 4
    state = state ^ np.uint64(length)
    state = _times(state ^ state >> np.uint64(16), 0x85EBCA6B)
    state = _times(state ^ state >> np.uint64(13), 0xC2B2AE35)
    return state ^ state >> np.uint64(16)


def _times(word: UInt64Array, factor: int) -> UInt64Array:
    return word * np.uint64(factor) & _WORD


def _rotated(word: UInt64Array, bits: int) -> UInt64Array:
    return (word << np.uint64(bits) | word >> np.uint64(32 - bits)) & _WORD
