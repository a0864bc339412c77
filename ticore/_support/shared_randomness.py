"""Random numbers that writer and reader share: those of step n depend on the key and on n alone.

The key must serve one text alone. Under a key that is used again, each step would draw the same
numbers in every text, and somebody who has many of the texts could notice that.
"""

from __future__ import annotations

from hashlib import blake2b

_BLOCK_BITS = 512  # of one hash


class SharedRandomness:
    """Independent uniform numbers for one purpose in one text. Thread-safe.

    Args:
        key: 16 to 64 bytes.
        purpose: at most 16 bytes. Numbers for other purposes are unrelated to these.
    """

    def __init__(self, key: bytes, purpose: str) -> None:
        self._start = blake2b(key=key, person=purpose.encode())

    def at(self, step: int) -> RandomBitStream:
        """The numbers of step `step`. Each call starts again with the first one."""
        hashed = self._start.copy()
        hashed.update(step.to_bytes(8, "big"))
        return RandomBitStream(hashed)


class RandomBitStream:
    """An endless string of random bits. Use one per thread."""

    def __init__(self, hashed: blake2b) -> None:
        self._hashed = hashed
        self._blocks = 0
        self._value, self._count = 0, 0

    def take(self, count: int) -> int:
        """The next `count` bits as an int, the first of them highest."""
        while self._count < count:
            block = self._hashed.copy()
            block.update(self._blocks.to_bytes(8, "big"))
            self._blocks += 1
            self._value = self._value << _BLOCK_BITS | int.from_bytes(block.digest(), "big")
            self._count += _BLOCK_BITS
        self._count -= count
        taken = self._value >> self._count
        self._value &= (1 << self._count) - 1
        return taken

    def below(self, bound: int) -> int:
        """A number from 0 to `bound` - 1.

        Each has its share to within 2^-64 of it: 64 bits more are drawn than `bound` has.
        """
        size = bound.bit_length() + 64
        return self.take(size) * bound >> size
