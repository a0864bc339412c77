"""A comparison cut into segments: runs of tokens of both lists between their common boundaries.

    H   a b|c        H'  ab|c        segments  (a b, ab) (c, c)

Where the lists agree a segment holds one token of each; where they differ it is the shortest
stretch of text at whose two ends both lists have a boundary. A special token that is kept is a
segment of its own, and no segment reaches across it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
    UNKNOWN = "U", "unknown: it stands for text that the tokenizer does not know, which is lost"
    BOUNDARY = "B", "boundary: a special token, before and after which text is read by itself"

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
        """The same ids with the same spans on both sides, and none that stands for lost text."""
        return self.given == self.again and all(t.mark is not Mark.UNKNOWN for t in self.given)

    @property
    def boundary(self) -> bool:
        """A special token that is kept."""
        return any(token.mark is Mark.BOUNDARY for token in self.given)

    @property
    def start(self) -> int:
        """Offset of the segment's first byte in the text."""
        return (self.given or self.again)[0].span[0]


def segments(comparison: Comparison) -> list[Segment]:
    """The segments of `comparison` in order; put together they give both lists."""
    unknown = {comparison.ids[n] for n in comparison.unknowns}
    given = _marked(
        comparison.ids, comparison.spans, comparison.sits, Mark.SOURCE, comparison.specials, unknown
    )
    again = _marked(
        comparison.again,
        comparison.spans_again,
        comparison.cits,
        Mark.CONSEQUENTIAL,
        comparison.specials_again,
        unknown,
    )
    found = []
    start = start_again = 0
    for here, there in zip(comparison.specials, comparison.specials_again, strict=True):
        found += _of_part(given[start:here], again[start_again:there])
        found.append(Segment((given[here],), (again[there],)))
        start, start_again = here + 1, there + 1
    return found + _of_part(given[start:], again[start_again:])


def _marked(
    ids: Sequence[int],
    spans: Sequence[Span],
    positions: Sequence[int],
    mark: Mark,
    specials: Sequence[int],
    unknown: Container[int],
) -> list[Token]:
    """The tokens of one list, with `mark` at `positions`; no other difference is marked yet."""
    marks = [Mark.UNKNOWN if token in unknown else Mark.SAME for token in ids]
    for at in specials:
        marks[at] = Mark.BOUNDARY
    for at in positions:
        marks[at] = mark
    return [Token(*fields) for fields in zip(ids, spans, marks, strict=True)]


def _of_part(given: Sequence[Token], again: Sequence[Token]) -> list[Segment]:
    """The segments of a part without special tokens."""
    if not (given or again):
        return []
    begin = (given or again)[0].span[0]
    edges = [begin, *(token.span[1] for token in given)]
    edges_again = [begin, *(token.span[1] for token in again)]
    # A list without tokens never reaches the end of a text that has bytes.
    cuts = sorted(set(edges) & set(edges_again) | {max(edges[-1], edges_again[-1])})
    found = []
    for here, there in zip(_runs(edges, cuts), _runs(edges_again, cuts), strict=True):
        left, right = tuple(given[here]), tuple(again[there])
        if [token.id for token in left] != [token.id for token in right]:
            left, right = _differing(left), _differing(right)
        if left or right:
            found.append(Segment(left, right))
    return found


def _differing(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple(
        replace(token, mark=Mark.OTHER) if token.mark is Mark.SAME else token for token in tokens
    )


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
