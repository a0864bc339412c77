"""Bits: packing lists of them, and a source of message bits that never ends."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence, Sized

import numpy as np

from ..errors import SettingsError, WrongTypeError

RandomBits = Callable[[int], int]
"""`f(n)` gives n random bits as an int."""


def zeros(_count: int) -> int:
    """A tail of zeros, for stop rules that end the text with the message."""
    return 0


def pack_bits(bits: Sequence[int]) -> bytes:
    """`bits` as bytes, the first bit highest, zeros after the last.

    Raises:
        SettingsError: a bit is neither 0 nor 1.
        WrongTypeError: there is no list of bits.

    >>> pack_bits([1, 0, 1, 0, 1, 0, 1, 0, 1])
    b'\\xaa\\x80'
    """
    if not (isinstance(bits, Iterable) and isinstance(bits, Sized)):
        raise WrongTypeError(f"bits: expected a list of 0 and 1, found {type(bits).__name__}")
    some = list(bits)
    if not all(np.ndim(bit) == 0 and bit in (0, 1) for bit in some):
        raise SettingsError("bits: expected a sequence of 0 and 1, found something else in it")
    return np.packbits(np.array(some, dtype=np.uint8)).tobytes()


def unpack_bits(value: int, count: int) -> list[int]:
    """The lowest `count` bits of `value`, the highest of them first.

    >>> unpack_bits(6, 4)
    [0, 1, 1, 0]
    """
    lowest = value & (1 << count) - 1
    data = lowest.to_bytes(-(-count // 8))
    bits: list[int] = np.unpackbits(np.frombuffer(data, dtype=np.uint8))[-count % 8 :].tolist()
    return bits


class BitSource:
    """Reads `length` bits of `data`, then bits of `tail`, highest bit first.

    Args:
        data: the message, `length` bits or more.
        length: how many bits of `data` belong to the message.
        tail: gives the bits after the message.

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
        """The next `count` bits as an int. The time depends on `count` alone."""
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
