"""What the window before a token says under a key: a step of the trellis, and random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

NUMBER_BITS = 32


@dataclass(frozen=True)
class Draw:
    """What one window says.

    Attributes:
        place: 64 bits; the step of a trellis is this modulo its length.
        mask: 32 bits, which hide the number that chooses the token.
        mixing: 64 bits, from which the numbers of states are made.
    """

    place: int
    mask: int
    mixing: int


class KeyedWindows:
    """The windows of one text, in order.

    Args:
        key: 16 to 64 bytes.
        size: tokens of a window.
    """

    def __init__(self, key: bytes, size: int) -> None:
        self._start = blake2b(key=key, digest_size=20, person=b"ticore/windows/1")
        self._size = size
        self._seen = set[bytes]()

    def before(self, ids: Sequence[int]) -> Draw | None:
        """What the window says that ends `ids`, to be called once for each token of a text.

        None for one that is too short or stood in the text before: a number that were used twice
        would make the text more regular than a sample.
        """
        if len(ids) < self._size:
            return None
        data = b"".join(token.to_bytes(8) for token in ids[-self._size :])
        if data in self._seen:
            return None
        self._seen.add(data)
        hashed = self._start.copy()
        hashed.update(data)
        digest = hashed.digest()
        place, mask, mixing = (
            int.from_bytes(digest[at:end]) for at, end in ((0, 8), (8, 12), (12, 20))
        )
        return Draw(place, mask, mixing)
