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
        pieces: `pieces[i]` is the text of id i. The empty text makes an id that no text spells.
        special: ids that `encode` never gives.

    >>> toy = ToyTokenizer(["a", "b", "ab"])
    >>> toy.encode("aab"), toy.encode(toy.decode([0, 0, 1]))
    ([0, 2], [0, 2])
    """

    def __init__(self, pieces: Iterable[str], special: Iterable[int] = ()) -> None:
        self.pieces = list(pieces)
        self.special_ids = frozenset(special)
        self.vocab_size = len(self.pieces)
        usable = [i for i, p in enumerate(self.pieces) if p and i not in self.special_ids]
        self._ids = {self.pieces[i]: i for i in reversed(usable)}  # of equal ones the first
        self._bytes = [
            b"" if i in self.special_ids else piece.encode() for i, piece in enumerate(self.pieces)
        ]

    @cached_property
    def _next(self) -> re.Pattern[str]:
        """Finds the longest piece that a text begins with."""
        longest_first = sorted(self._ids, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def encode(self, text: str) -> list[int]:
        found = self._next.findall(text)
        if sum(map(len, found)) < len(text):
            raise SettingsError(f"text: expected one that the pieces spell, found {shown(text)}")
        return [self._ids[piece] for piece in found]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(map(self.token_bytes, ids)).decode()

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token]

    def structure(self) -> TokenizerStructure | None:
        return None

    def digest(self) -> str:
        return hashlib.sha256(repr(self.pieces).encode()).hexdigest()
