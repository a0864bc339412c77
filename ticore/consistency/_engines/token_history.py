"""The ids of a list that grows, held so that the states of all its beginnings share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_CHUNK = 64  # ids; a list of n of them is copied n / 64 times in chunks


class TokenHistory(NamedTuple):
    """The ids of a list, to which one is added quickly.

    Attributes:
        chunks: of `_CHUNK` ids each.
        last: the ids after them, fewer than `_CHUNK`.
    """

    chunks: tuple[tuple[int, ...], ...] = ()
    last: tuple[int, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[int]) -> TokenHistory:
        whole = len(ids) - len(ids) % _CHUNK
        chunks = tuple(tuple(ids[at : at + _CHUNK]) for at in range(0, whole, _CHUNK))
        return cls(chunks, tuple(ids[whole:]))

    def and_then(self, token: int) -> TokenHistory:
        last = (*self.last, token)
        if len(last) < _CHUNK:
            return TokenHistory(self.chunks, last)
        return TokenHistory((*self.chunks, last))

    def ids(self) -> list[int]:
        return [token for chunk in (*self.chunks, self.last) for token in chunk]
