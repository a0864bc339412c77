"""Philox4x32-10: random words as a function of a counter and a key.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]

_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_INCREMENTS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_ROUNDS = 10


def philox(
    counter: tuple[UInt64Array, UInt64Array, UInt64Array, UInt64Array],
    key: tuple[UInt64Array, UInt64Array],
) -> tuple[UInt64Array, UInt64Array, UInt64Array, UInt64Array]:
    """Four words for each counter and key.

    Args:
        counter, key: uint64 arrays that broadcast together, all below 2^32.

    Returns:
        uint64 arrays, below 2^32.
    """
    a, b, c, d = counter
    left, right = key
    for _ in range(_ROUNDS):
        one, other = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = other >> _HALF ^ b ^ left, other & _WORD, one >> _HALF ^ d ^ right, one & _WORD
        left, right = (left + _INCREMENTS[0]) & _WORD, (right + _INCREMENTS[1]) & _WORD
    return a, b, c, d
