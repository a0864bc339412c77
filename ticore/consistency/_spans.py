"""The bytes that each token of a list covers in the text.

    un | happ | iness        starts 0, 2, 6        ends 2, 6, 11

They are held in two arrays, so that a list of a million tokens takes no million objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ._alignment import matches

Span = tuple[int, int]
Places = npt.NDArray[np.int64]


class Spans(Sequence[Span]):
    """The (start, end) of each token, counted in bytes. It equals a tuple of them.

    Args:
        starts, ends: int64[n].
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, starts: Places, ends: Places) -> None:
        self._starts = starts
        self._ends = ends

    @classmethod
    def of(cls, pieces: Sequence[bytes], text: bytes) -> Spans:
        """The spans of tokens in a text.

        The pieces spell the text, except for a dummy prefix, repaired UTF-8 and normalized
        characters.

        Args:
            pieces: the bytes of each token.
            text: in UTF-8.
        """
        places = np.array(places_of(pieces, text), dtype=np.int64)
        return cls(places[:-1], places[1:])

    @classmethod
    def joined(cls, parts: Iterable[tuple[list[int], int]]) -> Spans:
        """The spans of several texts one after the other, with an empty span between two of them.

        Args:
            parts: of each text `places_of` its tokens, and its length in bytes; at least one.
        """
        starts, ends, at = list[int](), list[int](), 0
        for number, (places, length) in enumerate(parts):
            if number:
                starts.append(at)
                ends.append(at)
            here = [place + at for place in places] if at else places
            starts += here[:-1]
            ends += here[1:]
            at += length
        return cls(np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))

    def positions_of_others(self, spans: Spans) -> tuple[int, ...]:
        """The positions of the spans that are not among `spans`."""
        size = 1 + max(self._ends.max(initial=0), spans._ends.max(initial=0))
        mine, theirs = ((s._starts * size + s._ends).tolist() for s in (self, spans))
        known = set(theirs)  # of lists of some hundred tokens faster than with NumPy
        return tuple(n for n, key in enumerate(mine) if key not in known)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Span, ...]: ...
    def __getitem__(self, index: int | slice) -> Span | tuple[Span, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return int(self._starts[index]), int(self._ends[index])

    def __iter__(self) -> Iterator[Span]:
        return zip(self._starts.tolist(), self._ends.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Spans):
            return np.array_equal(self._starts, other._starts) and np.array_equal(
                self._ends, other._ends
            )
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def characters_before(text: str, place: int) -> int:
    """How many whole characters stand before a place in a text, which is counted in bytes."""
    return len(text.encode()[:place].decode(errors="ignore"))


def places_of(pieces: Sequence[bytes], text: bytes) -> list[int]:
    """Where the first of some tokens begins in a text, and where each of them ends: n + 1 numbers.

    Args:
        pieces, text: as for `Spans.of`.
    """
    places = list(accumulate(map(len, pieces), initial=0))
    if len(text) == places[-1] and b"".join(pieces) == text:
        return places
    spelled = b"".join(pieces)
    if spelled == b" " + text:  # `decode` has removed the dummy prefix.
        return [max(place - 1, 0) for place in places]
    return _mapped(places, spelled, text)


class _Block(NamedTuple):
    """Bytes that are equal in both, or that were changed."""

    begin: int
    end: int
    begin_in_text: int
    end_in_text: int
    is_equal: bool


def _blocks(spelled: bytes, text: bytes) -> list[_Block]:
    """Which bytes are equal, and which were changed."""
    blocks, at, at_text = list[_Block](), 0, 0
    for begin, begin_in_text, size in [*matches(spelled, text), (len(spelled), len(text), 0)]:
        end, end_in_text = begin + size, begin_in_text + size
        if (at, at_text) != (begin, begin_in_text):
            blocks.append(_Block(at, begin, at_text, begin_in_text, is_equal=False))
        if size:
            blocks.append(_Block(begin, end, begin_in_text, end_in_text, is_equal=True))
        at, at_text = end, end_in_text
    return blocks


def _mapped(ends: list[int], spelled: bytes, text: bytes) -> list[int]:
    """The offset in `text` for each offset in `spelled`, where some bytes were changed.

    `decode` replaces malformed UTF-8 by U+FFFD, and a normalizer replaces characters. Outside
    these places offsets correspond exactly. Inside them they are spread evenly, in order.
    """
    blocks = _blocks(spelled, text)
    places, block = [], 0
    for end in ends:
        while block < len(blocks) - 1 and end > blocks[block].end:
            block += 1
        a, b, c, d, is_equal = blocks[block] if blocks else _Block(0, 0, 0, 0, is_equal=True)
        if is_equal:
            places.append(c + end - a)
        else:
            places.append(c + (end - a) * (d - c) // (b - a) if b > a else d)
    # Bytes that were added at an end belong to the token at that end.
    return [0, *places[1:-1], len(text)] if len(places) > 1 else places
