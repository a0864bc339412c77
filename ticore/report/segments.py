"""A comparison cut into segments: runs of tokens of both lists between their common boundaries.

    H   a b|c        H'  ab|c        segments  (a b, ab) (c, c)

Where the lists agree a segment holds one token of each; where they differ it is the shortest
stretch of text at whose two ends both lists have a boundary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from ..consistency import Comparison

Span = tuple[int, int]


class Mark(Enum):
    """How a token fares: a letter to mark it with, and what that means."""

    SAME = " ", "the same token on both sides"
    SOURCE = "S", "source inconsistent: no token read back covers exactly its bytes"
    CONSEQUENTIAL = "C", "consequential inconsistent: no token of the list covers exactly its bytes"
    OTHER = "O", "other id: both sides have a token for the same bytes, but not the same one"

    def __init__(self, letter: str, meaning: str) -> None:
        self.letter = letter
        self.meaning = meaning


@dataclass(frozen=True)
class Token:
    """One token of either list: its id, its byte span in the text, and how it fares."""

    id: int
    span: Span
    mark: Mark


@dataclass(frozen=True)
class Segment:
    """Tokens of H, and those of H' for the same bytes of the text. Either may be empty, not both.

    Tokens without bytes at a common boundary are a segment of their own.
    """

    given: tuple[Token, ...]
    again: tuple[Token, ...]

    @property
    def same(self) -> bool:
        """The same ids with the same spans on both sides."""
        return self.given == self.again

    @property
    def start(self) -> int:
        """Offset of the segment's first byte in the text."""
        return (self.given or self.again)[0].span[0]


def segments(comparison: Comparison) -> list[Segment]:
    """The segments of `comparison` in order; put together they give both lists."""
    given = [0, *(end for _, end in comparison.spans)]
    again = [0, *(end for _, end in comparison.spans_again)]
    # A list without tokens never reaches the end of a text that has bytes.
    cuts = sorted(set(given) & set(again) | {max(given[-1], again[-1])})
    sits, cits = set(comparison.sits), set(comparison.cits)

    found = []
    for here, there in zip(_runs(given, cuts), _runs(again, cuts), strict=True):
        same = comparison.ids[here] == comparison.again[there]
        usual = Mark.SAME if same else Mark.OTHER
        left = _tokens(comparison.ids, comparison.spans, here, sits, Mark.SOURCE, usual)
        right = _tokens(
            comparison.again, comparison.spans_again, there, cits, Mark.CONSEQUENTIAL, usual
        )
        if left or right:
            found.append(Segment(left, right))
    return found


def differing_marks(found: Iterable[Segment]) -> list[Mark]:
    """The marks that occur, apart from SAME, in the order of Mark."""
    occurring = {token.mark for segment in found for token in (*segment.given, *segment.again)}
    return [mark for mark in Mark if mark in occurring and mark is not Mark.SAME]


def _runs(edges: Sequence[int], cuts: Sequence[int]) -> Iterator[slice]:
    """Positions of the tokens at each cut, and between it and the next; `edges` never fall."""
    last = len(edges) - 1
    borders: list[int] = []
    for cut in cuts:
        borders += [min(bisect_left(edges, cut), last), bisect_right(edges, cut) - 1]
    return (slice(*pair) for pair in pairwise(borders))


def _tokens(
    ids: Sequence[int],
    spans: Sequence[Span],
    run: slice,
    marked: set[int],
    mark: Mark,
    usual: Mark,
) -> tuple[Token, ...]:
    """The tokens of one list at `run`, with `mark` where the position is in `marked`."""
    positions = range(len(ids))[run]
    return tuple(Token(ids[n], spans[n], mark if n in marked else usual) for n in positions)
