"""Finds many 64-bit numbers among others at once.

It is a hash table of NumPy arrays. Each slot holds one key; the few keys whose slot another key
took stand in a sorted list.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio, and odd
_SLOTS_PER_KEY = 8
_LAST = np.uint64(2**64 - 1)


class KeyIndex:
    """The positions of keys.

    Args:
        keys: different numbers.
    """

    def __init__(self, keys: Keys) -> None:
        bits = max(10, (_SLOTS_PER_KEY * len(keys)).bit_length())
        self._keys = keys
        self._shift = np.uint64(64 - bits)
        self._slots = np.full(1 << bits, -1, dtype=np.int32)
        slots, positions = self._slot(keys), np.arange(len(keys), dtype=np.int32)
        self._slots[slots] = positions
        rest = np.flatnonzero(self._slots[slots] != positions)
        order = np.argsort(keys[rest])
        # One more, so that a search that leads past the last key finds nothing there.
        self._rest = np.append(rest[order], -1)
        self._rest_keys = np.append(keys[rest[order]], _LAST)

    def find(self, keys: Keys) -> npt.NDArray[np.int32]:
        """The position of each key; -1 for those that are not there: int32[n]."""
        found: npt.NDArray[np.int32] = self._slots[self._slot(keys)]
        taken = np.flatnonzero(found >= 0)
        others = taken[self._keys[found[taken]] != keys[taken]]
        at = np.searchsorted(self._rest_keys, keys[others])
        found[others] = np.where(self._rest_keys[at] == keys[others], self._rest[at], -1)
        return found

    def _slot(self, keys: Keys) -> Keys:
        return keys * _MULTIPLIER >> self._shift
