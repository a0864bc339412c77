"""A comparison cut into blocks: the tokens of both lists between two boundaries that both have.

    H   a b|c        H'  ab|c        blocks  (a b, ab) (c, c)

Where the lists agree, a block holds one token of each list. Where they differ, it is the shortest
piece of text that begins and ends at a boundary of both lists. A special token is a block of its
own, and no block reaches across it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from ..consistency import Comparison

Span = tuple[int, int]


class TokenStatus(Enum):
    """What becomes of a token, with the letter that marks it and the meaning of that letter.

    Attributes:
        letter: shown beside the token; a space where nothing is wrong.
        meaning: a sentence for a legend.
    """

    SAME = " ", "the same token on both sides"
    SOURCE = "S", "source inconsistent: no token read back covers exactly its bytes"
    CONSEQUENTIAL = "C", "consequential inconsistent: no token of the list covers exactly its bytes"
    OTHER = "O", "other id: both sides have a token for the same bytes, but not the same one"
    UNKNOWN = "U", "unknown: the token of text that the tokenizer does not know, which is lost"
    BOUNDARY = "B", "boundary: a special token; the text before it and after it is read by itself"

    def __init__(self, letter: str, meaning: str) -> None:
        self.letter = letter
        self.meaning = meaning


@dataclass(frozen=True)
class ComparedToken:
    """One token of either list.

    Attributes:
        id: the token's id.
        span: where its bytes are in the text: first byte, and the one after the last.
        status: what becomes of it.
    """

    id: int
    span: Span
    status: TokenStatus


@dataclass(frozen=True)
class Block:
    """Tokens of the list H, and the tokens of H', the list read back, for the same bytes.

    Tokens without bytes at a common boundary are a block of their own.

    Attributes:
        given: the tokens of H. May be empty if `again` is not.
        again: the tokens of H'. May be empty if `given` is not.
    """

    given: tuple[ComparedToken, ...]
    again: tuple[ComparedToken, ...]

    @property
    def same(self) -> bool:
        """Whether both sides have the same ids and spans, and no token stands for lost text."""
        lost = any(token.status is TokenStatus.UNKNOWN for token in self.given)
        return self.given == self.again and not lost

    @property
    def boundary(self) -> bool:
        """Whether this block is a special token."""
        return any(token.status is TokenStatus.BOUNDARY for token in self.given)

    @property
    def start(self) -> int:
        """Offset of the block's first byte in the text."""
        return (self.given or self.again)[0].span[0]


def blocks(comparison: Comparison) -> list[Block]:
    """Cut a comparison into blocks.

    Returns:
        The blocks in the order of the text. Their tokens, put together, are both lists.
    """
    unknown = {comparison.ids[n] for n in comparison.unknowns}
    given = _marked(
        comparison.ids,
        comparison.spans,
        comparison.sits,
        TokenStatus.SOURCE,
        comparison.specials,
        unknown,
    )
    again = _marked(
        comparison.again,
        comparison.spans_again,
        comparison.cits,
        TokenStatus.CONSEQUENTIAL,
        comparison.specials_again,
        unknown,
    )
    found = []
    start = start_again = 0
    for here, there in zip(comparison.specials, comparison.specials_again, strict=True):
        found += _of_stretch(given[start:here], again[start_again:there])
        found.append(Block((given[here],), (again[there],)))
        start, start_again = here + 1, there + 1
    return found + _of_stretch(given[start:], again[start_again:])


def _marked(
    ids: Sequence[int],
    spans: Sequence[Span],
    positions: Sequence[int],
    status: TokenStatus,
    specials: Sequence[int],
    unknown: Container[int],
) -> list[ComparedToken]:
    """The tokens of one list, with `status` at `positions`; other ids are not looked for yet."""
    statuses = [TokenStatus.UNKNOWN if token in unknown else TokenStatus.SAME for token in ids]
    for at in specials:
        statuses[at] = TokenStatus.BOUNDARY
    for at in positions:
        statuses[at] = status
    return [ComparedToken(*fields) for fields in zip(ids, spans, statuses, strict=True)]


def _of_stretch(given: Sequence[ComparedToken], again: Sequence[ComparedToken]) -> list[Block]:
    """The blocks of a part of the text without special tokens."""
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
            found.append(Block(left, right))
    return found


def _differing(tokens: tuple[ComparedToken, ...]) -> tuple[ComparedToken, ...]:
    return tuple(
        replace(token, status=TokenStatus.OTHER) if token.status is TokenStatus.SAME else token
        for token in tokens
    )


def differing_statuses(found: Iterable[Block]) -> list[TokenStatus]:
    """The statuses that occur in the blocks `found`, without SAME, in the order of TokenStatus."""
    occurring = {token.status for block in found for token in (*block.given, *block.again)}
    return [status for status in TokenStatus if status in occurring - {TokenStatus.SAME}]


def _runs(edges: Sequence[int], cuts: Sequence[int]) -> Iterator[slice]:
    """Positions of the tokens at a cut, between it and the next cut, and so on; `edges` ascend."""
    last = len(edges) - 1
    borders: list[int] = []
    for cut in cuts:
        borders += [min(bisect_left(edges, cut), last), bisect_right(edges, cut) - 1]
    return (slice(*pair) for pair in pairwise(borders))
