"""Raw bits with a checksum after them, by which a search knows that it read the right tokens.

A checksum is no authentication: everybody who knows the settings can make one.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from hashlib import sha256
from typing import Self

from ..codecs import pack_bits, unpack_bits
from ..codecs._settling import too_short
from ..errors import AlteredTextError
from ._bit_buffer import BitBuffer

MOST_CHECKSUM_BITS = 256


def with_checksum(bits: Sequence[int], checksum: int) -> list[int]:
    """Bits, and their checksum after them: the first `checksum` bits of SHA-256.

    Raises as `pack_bits`.
    """
    digest = int.from_bytes(sha256(pack_bits(bits)).digest())
    return [*bits, *unpack_bits(digest >> MOST_CHECKSUM_BITS - checksum, checksum)]


class CheckedBits:
    """Takes bits in order, and what follows them. A `Sought`.

    Args:
        length: how many bits there are without the checksum.
        checksum: how many it has; 0: there is none, and all bits are right.
    """

    def __init__(self, length: int, checksum: int) -> None:
        self._length, self._checksum = length, checksum
        self._taken = BitBuffer()

    @property
    def bits_needed(self) -> int:
        return max(0, self.least_bits - self._taken.count)

    @property
    def complete(self) -> bool:
        return self._taken.count >= self.least_bits

    @property
    def least_bits(self) -> int:
        return self._length + self._checksum

    def fork(self) -> Self:
        other = copy(self)
        other._taken = self._taken.fork()
        return other

    def feed(self, value: int, count: int) -> None:
        self._taken.append(value, count)

    def payload(self, most_bits: int | None = None) -> list[int]:
        """The bits without their checksum.

        Raises:
            AlteredTextError: the checksum is that of other bits.
            IncompleteMessageError: bits are missing.
        """
        if not self.complete:
            raise too_short(self.bits_needed)
        taken = self._taken.bits(self.least_bits)
        if taken != with_checksum(taken[: self._length], self._checksum):
            raise AlteredTextError(
                f"expected bits with their checksum of {self._checksum} bits after them, found "
                f"others; the text was changed, or was written with other settings"
            )
        return taken[: self._length]
