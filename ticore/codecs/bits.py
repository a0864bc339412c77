"""A message as an endless string of bits: its own, then a tail that never runs out."""

from __future__ import annotations

import secrets
from collections.abc import Callable

RandomBits = Callable[[int], int]
"""`f(n)` gives n random bits as an int."""


def zeros(_count: int) -> int:
    """The tail of zeros, for rules that stop as soon as the message is all there is."""
    return 0


class BitSource:
    """Reads `length` bits of `data`, then bits of `tail`, highest bit first.

    >>> source = BitSource(b"\\xf0", 8, tail=zeros)
    >>> source.take(3), source.take(3), source.take(4)
    (7, 4, 0)
    """

    def __init__(self, data: bytes, length: int, tail: RandomBits = secrets.randbits) -> None:
        self.length = length
        self._data = data
        self._tail = tail
        self._at = 0

    def take(self, count: int) -> int:
        """The next `count` bits. Takes time in proportion to `count` alone."""
        own = max(0, min(count, self.length - self._at))
        value = self._slice(self._at, own) if own else 0
        self._at += count
        if own < count:
            value = value << (count - own) | self._tail(count - own)
        return value

    def _slice(self, start: int, count: int) -> int:
        end = start + count
        last = -(-end // 8)
        chunk = int.from_bytes(self._data[start // 8 : last])
        return (chunk >> (8 * last - end)) & ((1 << count) - 1)
