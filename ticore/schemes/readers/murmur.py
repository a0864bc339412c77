"""MurmurHash3_x86_32 of whole words.

Source: Appleby, SMHasher, MurmurHash3.cpp (public domain).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

_WORD = np.uint64(0xFFFFFFFF)


def murmur3(words: Iterable[Words], seed: int = 0) -> Words:
    """The hash of the bytes of some words, each with its lowest byte first.

    Args:
        words: uint64 arrays that broadcast together, all below 2^32.
        seed: from 0 to 2^32 - 1.

    Returns:
        a uint64 array, below 2^32.
    """
    state: Words = np.array(seed, np.uint64)
    length = 0
    for word in words:
        mixed = _times(_turned(_times(word, 0xCC9E2D51), 15), 0x1B873593)
        state = (_times(_turned(state ^ mixed, 13), 5) + np.uint64(0xE6546B64)) & _WORD
        length += 4
    state = state ^ np.uint64(length)
    state = _times(state ^ state >> np.uint64(16), 0x85EBCA6B)
    state = _times(state ^ state >> np.uint64(13), 0xC2B2AE35)
    return state ^ state >> np.uint64(16)


def _times(word: Words, factor: int) -> Words:
    return word * np.uint64(factor) & _WORD


def _turned(word: Words, bits: int) -> Words:
    return (word << np.uint64(bits) | word >> np.uint64(32 - bits)) & _WORD
