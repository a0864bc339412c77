"""How a token changes the way in which the text before it is split.

Appended text can move boundaries that stood before. GPT-2's expression splits

    "   " + "house"   into   "  ", " house"      the word takes the last space
    "it'" + "s"       into   "it", "'s"          the apostrophe becomes a contraction
    "it'" + "x"       into   "it", "'", "x"

Only the end of a text can still change: its *tail*, the text after the last settled boundary.
What a token does to a tail depends on the tail's shape, on the tail's tokens, and on the shape of
the token (`character_classes`). Few shapes exist. So the verdicts on all tokens after tails of one
shape are computed once, by running the expression, and cached: `TailVerdicts`. `decide` computes
one of them.

To find the verdict on a token after a tail, split the tail's text followed by the token's text.

1. Some part of the tail ends inside a token, or the part's tokens are not canonical as a part: NO.
2. The text is split at the tail's end. The token is then the first in a part: YES if the part may
   end where the expression ends it, else NO.
3. The tail's last token and the new one share a part: IF_UNMERGED if the part may end there, else
   NO. The pair test decides the rest.

With GPT-2's expression, for the tail "a '" of the tokens "a" and " '":

    token "s"   a| '|s    the apostrophe after a space is a sign: split at the end     YES
    token "'"   a| ''     the two apostrophes share a part                             IF_UNMERGED
    token "s "  a| '|s|_  the part ends inside the token                               NO
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache, partial
from itertools import chain, takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.caches import BoundedCache
from ..._tokenizer_rules.open_ends import Distances, OpenEnd
from ..._tokenizer_rules.pretokenizers import Splitter


class FollowVerdict(IntEnum):
    """Whether a token may follow. Where several are found, the highest one counts."""

    NO = 0
    IF_UNMERGED = 1  # yes if it does not merge with the last token
    YES = 2
    ASK_TOKENIZER = 3  # not decided here


_LONGEST_BEGINNING = 3  # characters; more hardly ever settle a boundary before them
_CACHED_ENDS = 1 << 13

Boundaries = tuple[int, ...]
"""Offsets into a tail's shape where it is split."""


@dataclass(frozen=True)
class Tail:
    """The end of a text, as far as it matters: the same tokens may follow equal tails.

    Attributes:
        shape: of the tail's text.
        token_ends: offsets into `shape` where tokens end; the last one is its length.
        unmerged: for every token but the last, whether it does not merge with the next one.
        whole_part_only: for every token, whether it comes only as a part of its own.
        replaced: (start, end) of tokens in whose place another token stands where they are a part
            of their own.
        unmerged_with_open: if a token follows that ends inside a character: whether it does not
            merge with the last token; else True.
        completing: ids that would complete such a replaced part together with the last tokens.
    """

    shape: str = ""
    token_ends: tuple[int, ...] = ()
    unmerged: tuple[bool, ...] = ()
    whole_part_only: tuple[bool, ...] = ()
    replaced: frozenset[tuple[int, int]] = frozenset()
    unmerged_with_open: bool = True
    completing: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Lookahead:
    """The shape of a token with one text that may follow it.

    Attributes:
        shape: of the token's text and what follows it.
        token_length: how many of these characters are the token's.
        may_end_after: how many characters after the token its part may end: up to there, what
            follows begins with another token that does not merge with this one. The part may also
            end with the token itself.
    """

    shape: str
    token_length: int
    may_end_after: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TokenGroup:
    """Tokens that get the same verdict after every tail.

    Attributes:
        lookaheads: a token may follow if one of these may; with none it never may.
        whole_part_only: the tokens come only as a part of their own.
        undecided: only the tokenizer can decide about them.
    """

    lookaheads: tuple[Lookahead, ...] = ()
    whole_part_only: bool = False
    undecided: bool = False


END_OF_TEXT = TokenGroup((Lookahead("", 0),))
"""No token at all: `decide` then says whether the text may end here."""


def decide(splitter: Splitter, tail: Tail, group: TokenGroup) -> FollowVerdict:
    """The verdict on the tokens of `group` after `tail`."""
    if group.undecided:
        return FollowVerdict.ASK_TOKENIZER
    found = (
        _split_tail(splitter, tail.shape, lookahead, group.whole_part_only)
        for lookahead in group.lookaheads
    )
    verdicts = (verdict for boundaries, verdict in found if _is_canonical(tail, boundaries))
    return max(verdicts, default=FollowVerdict.NO)


class GroupIndex:
    """The groups of a vocabulary, and their verdicts after ends of tails that were seen before.

    Lookaheads that begin alike mostly split a tail alike. So they are sorted into a tree by their
    first characters. Where such a beginning settles a boundary in the tail, only the text from
    there on matters, and few of these *open ends* are different:

        the tail "it" before "s"     nothing is settled          the open end "it"
        the tail "it'" before "s"    settled before the sign     the open end "'"
        the tail "it'" before " "    settled at the tail's end   the open end ""

    Args:
        splitter: of the expression.
        groups: all that the vocabulary has.

    Attributes:
        undecided: uint8[groups], `ASK_TOKENIZER` for groups that only the tokenizer can decide
            about, `NO` for others.
    """

    def __init__(self, splitter: Splitter, groups: Sequence[TokenGroup]) -> None:
        self._splitter = splitter
        ask = FollowVerdict.ASK_TOKENIZER
        self.undecided = np.array([ask * group.undecided for group in groups], dtype=np.uint8)
        by_shape: dict[str, list[_Occurrence]] = {}
        for n, group in enumerate(groups):
            for lookahead in group.lookaheads:
                occurrence = _Occurrence(n, lookahead, group.whole_part_only)
                by_shape.setdefault(lookahead.shape, []).append(occurrence)
        self._all = _branch(splitter, by_shape, len(groups))
        self._found: BoundedCache[tuple[str, str, bool], VerdictsBySplit] = BoundedCache(
            _CACHED_ENDS
        )
        self._by_open_end: BoundedCache[Hashable, VerdictsBySplit] = BoundedCache(_CACHED_ENDS)

    def open_end(self, shape: str) -> OpenEnd:
        """How tails of one shape are split if something follows."""
        return self._splitter.open_end(shape)

    def verdicts_after(self, shape: str) -> VerdictsBySplit:
        """The verdicts on all groups after tails of one shape, by how they are split.

        They are found once for all shapes with one open end, of which there are few.
        """
        end = self.open_end(shape)
        found = self._by_open_end.get(end.key, partial(self._after_open_end, shape, end))
        return {
            _from_the_start(shape, (*end.settled, *split)): verdicts
            for split, verdicts in found.items()
        }

    def _after_open_end(self, shape: str, end: OpenEnd) -> VerdictsBySplit:
        """`verdicts_after`, with the open boundaries alone, counted from the end of the shape."""
        return {
            tuple(len(shape) - at for at in boundaries[len(end.settled) :]): verdicts
            for boundaries, verdicts in self._after(shape, self._all).items()
        }

    def _after(self, shape: str, branch: _Branch) -> VerdictsBySplit:
        """The verdicts on the groups of one branch."""
        if not shape:
            return {(): branch.at_part_start}
        if not branch.longer:
            return self._one_by_one(shape, branch)
        found: VerdictsBySplit = {}
        for longer in branch.longer:
            cut, before = self._settled(shape, longer.beginning)
            open_end = shape[cut:]
            # A shape that begins others has a branch of its own within theirs.
            key = open_end, longer.beginning, bool(longer.longer)
            after = self._found.get(key, partial(self._after, open_end, longer))
            for boundaries, verdicts in after.items():
                where = (*before, *(cut + at for at in boundaries))
                _take_higher(found, where, verdicts)
        return found

    def _settled(self, shape: str, beginning: str) -> tuple[int, Boundaries]:
        """The last boundary in a tail that is settled if `beginning` follows, and all up to it.

        0 if there is none.
        """
        text = shape + beginning
        known = self._splitter.settled_in_shape(text)
        cut = next((at for at in known if at <= len(shape)), 0)
        return cut, tuple(takewhile(cut.__ge__, self._splitter.ends(text))) if cut else ()

    def _one_by_one(self, shape: str, branch: _Branch) -> VerdictsBySplit:
        found: VerdictsBySplit = {}
        for text, occurrences in branch.by_shape.items():
            where = _find_boundaries(self._splitter, shape, text)
            verdicts = np.zeros_like(self.undecided)
            for n, lookahead, alone in occurrences:
                verdict = _verdict(self._splitter, shape, where, lookahead, alone)
                verdicts[n] = max(verdict, verdicts[n])
            _take_higher(found, where[0], verdicts)
        return found


VerdictsBySplit = dict[Boundaries, npt.NDArray[np.uint8]]
"""For each way in which tokens split a tail: uint8[groups], the verdicts on the groups that do so.

They count for those tails whose own tokens fit these boundaries. Not to be changed."""


class _Occurrence(NamedTuple):
    """A lookahead, the number of its group, and whether that is `whole_part_only`."""

    group: int
    lookahead: Lookahead
    whole_part_only: bool


class _Branch(NamedTuple):
    """The lookaheads whose shapes begin alike.

    Attributes:
        beginning: their first characters.
        by_shape: the lookaheads by their shape.
        longer: the same in branches with one more character; none if there is one shape alone, or
            if the beginning is as long as one gets.
        at_part_start: uint8[groups], the verdicts where the token begins a part (case 2).
    """

    beginning: str
    by_shape: dict[str, list[_Occurrence]]
    longer: tuple[_Branch, ...]
    at_part_start: npt.NDArray[np.uint8]


def _branch(
    splitter: Splitter, by_shape: dict[str, list[_Occurrence]], groups: int, beginning: str = ""
) -> _Branch:
    """The branch of some lookaheads, with all that are in it."""
    at_part_start = np.zeros(groups, dtype=np.uint8)
    for n, lookahead, alone in chain(*by_shape.values()):
        verdict = _verdict_at_part_start(splitter, lookahead, alone)
        at_part_start[n] = max(verdict, at_part_start[n])
    parts: dict[str, dict[str, list[_Occurrence]]] = {}
    if len(beginning) < _LONGEST_BEGINNING and list(by_shape) != [beginning]:
        for shape, occurrences in by_shape.items():
            parts.setdefault(shape[: len(beginning) + 1], {})[shape] = occurrences
    longer = tuple(_branch(splitter, part, groups, head) for head, part in parts.items())
    return _Branch(beginning, by_shape, longer, at_part_start)


def _take_higher(
    found: VerdictsBySplit, boundaries: Boundaries, verdicts: npt.NDArray[np.uint8]
) -> None:
    """Take over those of `verdicts` that are higher than the ones found."""
    known = found.get(boundaries)
    found[boundaries] = verdicts if known is None else np.maximum(known, verdicts)


class TailVerdicts:
    """The verdicts on all groups after tails of one shape.

    Args:
        shape: of the tails.
        groups: all that the vocabulary has.
    """

    def __init__(self, shape: str, groups: GroupIndex) -> None:
        self._undecided = groups.undecided
        self._verdicts = groups.verdicts_after(shape)
        end = groups.open_end(shape)
        self._key = end.key
        self._splits = end.splits and [
            _from_the_start(shape, (*end.settled, *split)) for split in end.splits
        ]

    def of(self, tail: Tail) -> npt.NDArray[np.uint8]:
        """`decide` for all groups after a tail of this shape: uint8[groups]."""
        verdicts = self._undecided.copy()
        for boundaries, found in self._verdicts.items():
            if _is_canonical(tail, boundaries):
                np.maximum(verdicts, found, out=verdicts)
        return verdicts

    def kind(self, tail: Tail) -> Hashable:
        """Equal for tails after which the same tokens may follow; their shapes may differ.

        Such tails have the same open end, and their tokens fit the same of its splits. What
        completes a replaced part is left out.
        """
        if self._splits is None:
            return tail
        return self._key, tuple(_is_canonical(tail, boundaries) for boundaries in self._splits)


def _from_the_start(shape: str, distances: Distances) -> Boundaries:
    """Boundaries that are counted from the end of a shape, counted from its start."""
    return tuple(len(shape) - at for at in distances)


def _split_tail(
    splitter: Splitter, shape: str, lookahead: Lookahead, whole_part_only: bool
) -> tuple[Boundaries, FollowVerdict]:
    """Where a tail of `shape` is split if `lookahead` follows, and cases 2 and 3 of the verdict.

    The tail's end is among the boundaries if the text is split there.
    """
    found = _known_boundaries(splitter, shape, lookahead.shape)
    return found[0], _verdict(splitter, shape, found, lookahead, whole_part_only)


def _find_boundaries(splitter: Splitter, shape: str, following: str) -> tuple[Boundaries, int]:
    """Where a tail of `shape` is split if `following` follows, and where its last part ends."""
    start = len(shape)
    end, within = 0, []
    for end in splitter.ends(shape + following):
        if end > start:
            break
        within.append(end)
        if end == start and splitter.restarts:
            break
    return tuple(within), end


# Tails of one shape differ in their tokens alone. They are split alike.
_known_boundaries = lru_cache(maxsize=1 << 13)(_find_boundaries)


def _verdict(
    splitter: Splitter,
    shape: str,
    found: tuple[Boundaries, int],
    lookahead: Lookahead,
    whole_part_only: bool,
) -> FollowVerdict:
    """Cases 2 and 3, for a tail of `shape` that is split as `found`."""
    (within, end), start = found, len(shape)
    if not start or start in within:
        if splitter.restarts or not start or not lookahead.shape:
            return _verdict_at_part_start(splitter, lookahead, whole_part_only)
        return _verdict_on_first(lookahead, end - start, whole_part_only)
    fits = not whole_part_only and _part_may_end(lookahead, end - start)
    return FollowVerdict.IF_UNMERGED if fits else FollowVerdict.NO


@lru_cache(maxsize=1 << 16)
def _verdict_at_part_start(
    splitter: Splitter, lookahead: Lookahead, whole_part_only: bool
) -> FollowVerdict:
    """Case 2: text after a boundary is split as if it stood alone."""
    if not lookahead.shape:
        return FollowVerdict.YES
    end = next(iter(splitter.ends(lookahead.shape)))
    return _verdict_on_first(lookahead, end, whole_part_only)


def _verdict_on_first(lookahead: Lookahead, end: int, whole_part_only: bool) -> FollowVerdict:
    """Case 2, where the part that the token begins ends `end` characters later."""
    fits = _part_may_end(lookahead, end) and not (whole_part_only and end > lookahead.token_length)
    return FollowVerdict.YES if fits else FollowVerdict.NO


def _part_may_end(lookahead: Lookahead, end: int) -> bool:
    """Whether the token's part may end `end` characters after the token begins."""
    return end == lookahead.token_length or end - lookahead.token_length in lookahead.may_end_after


def _is_canonical(tail: Tail, boundaries: Boundaries) -> bool:
    """Whether the tail's tokens are canonical if it is split at `boundaries`; False is case 1."""
    start = 0
    for end in boundaries:
        # Every part ends where a token does.
        if end not in tail.token_ends or not _is_canonical_part(tail, start, end, is_closed=True):
            return False
        start = end
    end = len(tail.shape)
    return start == end or _is_canonical_part(tail, start, end, is_closed=False)


def _is_canonical_part(tail: Tail, start: int, end: int, *, is_closed: bool) -> bool:
    """Whether the tail's tokens between two offsets are canonical as a part of the text.

    Args:
        tail: whose tokens.
        start, end: offsets into the tail's shape.
        is_closed: the part ends at `end`; else the token after the tail belongs to it as well.
    """
    inside = [n for n, at in enumerate(tail.token_ends) if start < at <= end]
    if is_closed and (start, end) in tail.replaced:
        return False
    if len(inside) + (not is_closed) > 1 and any(tail.whole_part_only[n] for n in inside):
        return False
    return all(tail.unmerged[n] for n in inside if tail.token_ends[n] < end)
