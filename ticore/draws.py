"""Random numbers that writer and reader have in common, each step's by its number.

They come from a key that serves one text alone. Under a key that is used again, the same step would
draw the same numbers in every text, and who has many of these could tell.
"""

from __future__ import annotations

from hashlib import blake2b

_BLOCK_BITS = 512  # of one hash


class Draws:
    """Independent uniform numbers for one purpose in one text.

    Args:
        key: 16 to 64 bytes.
        purpose: whose numbers these are, at most 16 bytes; other purposes have unrelated ones.
    """

    def __init__(self, key: bytes, purpose: str) -> None:
        self._start = blake2b(key=key, person=purpose.encode())

    def at(self, step: int) -> Bits:
        """The numbers of step `step`, from the first one on."""
        hashed = self._start.copy()
        hashed.update(step.to_bytes(8, "big"))
        return Bits(hashed)


class Bits:
    """An endless string of random bits."""

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

        It is uniform but for 2^-64 of each share: 64 bits more are drawn than `bound` has.
        """
        size = bound.bit_length() + 64
        return self.take(size) * bound >> size
