"""Bits that arrive in order, a few at a time, as whole bytes and the bits after them."""

from __future__ import annotations

from copy import copy

import numpy as np


class BitBuffer:
    """Bits that were appended.

    Attributes:
        whole: the whole bytes.
        count: how many bits there are.
    """

    def __init__(self) -> None:
        self.whole = bytearray()
        self.count = 0
        self._tail = 0  # the bits after the last whole byte

    def fork(self) -> BitBuffer:
        """A buffer of the same bits, which grows by itself."""
        other = copy(self)
        other.whole = bytearray(self.whole)
        return other

    def append(self, value: int, count: int) -> None:
        """Append `count` bits, the most significant first.

        Raises:
            ValueError: `value` is negative or has more than `count` bits.
        """
        if count < 0 or value >> count:
            raise ValueError(f"expected a number >= 0 of at most {count} bits")
        before = self.count % 8
        bits = self._tail << count | value
        whole, left = divmod(before + count, 8)
        self.whole += (bits >> left).to_bytes(whole, "big")
        self._tail = bits & ((1 << left) - 1)
        self.count += count

    def bits(self, count: int) -> list[int]:
        """The first `count` bits; there are no fewer."""
        tail = self._tail << -self.count % 8
        data = np.frombuffer(bytes([*self.whole, tail]), dtype=np.uint8)
        found: list[int] = np.unpackbits(data, count=count).tolist()
        return found
