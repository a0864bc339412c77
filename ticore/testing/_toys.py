"""A small tokenizer that is inconsistent often."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

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
        self._longest_first = sorted(usable, key=lambda i: (-len(self.pieces[i]), i))

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        at = 0
        while at < len(text):
            ids.append(next(i for i in self._longest_first if text.startswith(self.pieces[i], at)))
            at += len(self.pieces[ids[-1]])
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.token_bytes(i) for i in ids).decode()

    def token_bytes(self, token: int) -> bytes:
        return b"" if token in self.special_ids else self.pieces[token].encode()

    def structure(self) -> TokenizerStructure | None:
        return None

    def digest(self) -> str:
        return hashlib.sha256(repr(self.pieces).encode()).hexdigest()
