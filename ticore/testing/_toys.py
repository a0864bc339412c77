"""A small tokenizer that is inconsistent often."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..errors import SettingsError, shown
from ..interfaces import TokenizerStructure


class ToyTokenizer:
    """Longest match first over a list of strings: often inconsistent, and easy to follow.

    Args:
        pieces: `pieces[i]` is the text of id i, or its bytes where these are a part of a character.
            The empty text makes an id that no text spells.
        special: ids that `encode` never gives.

    >>> toy = ToyTokenizer(["a", "b", "ab"])
    >>> toy.encode("aab"), toy.encode(toy.decode([0, 0, 1]))
    ([0, 2], [0, 2])
    """

    def __init__(self, pieces: Iterable[str | bytes], special: Iterable[int] = ()) -> None:
        self.pieces = list(pieces)
        self.special_ids = frozenset(special)
        self.vocab_size = len(self.pieces)
        self._bytes = [
            b"" if i in self.special_ids else piece.encode() if isinstance(piece, str) else piece
            for i, piece in enumerate(self.pieces)
        ]
        # Of equal ones the first.
        self._ids = {data: i for i, data in reversed([*enumerate(self._bytes)]) if data}

    @cached_property
    def _next(self) -> re.Pattern[bytes]:
        """Finds the longest piece that a text begins with."""
        longest_first = sorted(self._ids, key=len, reverse=True)
        return re.compile(b"|".join(map(re.escape, longest_first)) or rb"(?!)")

    def encode(self, text: str) -> list[int]:
        data = text.encode(errors="surrogatepass")
        found = self._next.findall(data)
        if sum(map(len, found)) < len(data):
            raise SettingsError(f"text: expected one that the pieces spell, found {shown(text)}")
        return [self._ids[piece] for piece in found]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(map(self.token_bytes, ids)).decode(errors="replace")

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token]

    def structure(self) -> TokenizerStructure | None:
        return None

    def digest(self) -> str:
        return hashlib.sha256(repr(self.pieces).encode()).hexdigest()
