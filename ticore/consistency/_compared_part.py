"""A list without boundaries beside what is read from its text, and which of their tokens differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..interfaces import Tokenizer
from ._boundaries import special_name
from ._engines.tokenizer_parts import spell_each
from ._spans import characters_before, places_of


class ComparedPart(NamedTuple):
    """A list without boundaries, and what is read from its text.

    Attributes:
        ids, again: both lists.
        text: of the first one.
        size: of the text, in bytes.
        places, places_again: see `places_of`.
    """

    ids: list[int]
    again: list[int]
    text: str
    size: int
    places: list[int]
    places_again: list[int]

    @classmethod
    def of(cls, tokenizer: Tokenizer, ids: list[int], text: str, again: list[int]) -> ComparedPart:
        """A list whose `text` is read as `again`."""
        data = text.encode()
        places = places_again = places_of(spell_each(tokenizer, ids), data)
        if again != ids:
            # A special token that `encode` finds in a text covers the bytes of its name.
            read = [tokenizer.token_bytes(i) or special_name(tokenizer, i).encode() for i in again]
            places_again = places_of(read, data)
        return cls(ids, again, text, len(data), places, places_again)

    def first_character(self, token: int) -> int:
        """Where the text of a token of `ids` begins, in characters."""
        return characters_before(self.text, self.places[token])

    def sits(self, first: int = 0) -> list[int]:
        """The source inconsistent tokens: their positions in `ids`, counted from `first`."""
        return _others(self.places, self.places_again, first)

    def cits(self, first: int = 0) -> list[int]:
        """The consequential inconsistent tokens: positions in `again`, counted from `first`."""
        return _others(self.places_again, self.places, first)


def _others(places: Sequence[int], known: Sequence[int], first: int) -> list[int]:
    """The positions of the spans that are not among others, counted from `first`."""
    spans = set(pairwise(known))
    return [n for n, span in enumerate(pairwise(places), first) if span not in spans]
