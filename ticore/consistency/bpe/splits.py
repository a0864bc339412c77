"""What a token behind a text does to the way the text is split, decided by its shape.

Only the end of a text can still be split anew: its *tail*. What a token does there depends on the
tail's shape, on where the tail's tokens end and whether they stay apart, and on the token's shape.
There are few of either, so a decision is made once and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from ..patterns import Splitter


class Verdict(IntEnum):
    """Whether a token may come next."""

    NO = 0
    YES = 1
    IF_APART = 2  # if it and the last token do not merge
    ASK = 3  # not decided here: the tokenizer must say


@dataclass(frozen=True)
class Tail:
    """The end of a text, as far as it matters. Equal tails behave alike.

    Attributes:
        shape: of the tail's text.
        marks: offsets into `shape` where tokens end; the last one is its length.
        apart: for every mark but the last, whether the tokens on both sides stay apart.
        alone: for every mark, whether the token that ends there can only be a part of its own.
        replaced: (start, end) of tokens which, as a part of their own, would be another token.
        apart_from_open: whether the token that has begun behind `shape` with an unfinished
            character stays apart from the last one before it.
        completing: ids that would complete such a replaced part together with the last tokens.
    """

    shape: str = ""
    marks: tuple[int, ...] = ()
    apart: tuple[bool, ...] = ()
    alone: tuple[bool, ...] = ()
    replaced: frozenset[tuple[int, int]] = frozenset()
    apart_from_open: bool = True
    completing: frozenset[int] = frozenset()

    @property
    def near_apostrophe(self) -> bool:
        """Whether an apostrophe is one of the last two characters."""
        return "'" in self.shape[-2:]


@dataclass(frozen=True)
class Alternative:
    """One thing that may stand behind a tail.

    Attributes:
        shape: of a token's text and what may follow it.
        own: how many of its characters are the token's.
        joins: how many of the characters behind may share a part with the token.
    """

    shape: str
    own: int
    joins: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Group:
    """Tokens that behave alike behind every tail.

    Attributes:
        alternatives: a token may come next if any of these may; none: it never may.
        alone: the tokens can only be a part of their own.
    """

    alternatives: tuple[Alternative, ...] = ()
    alone: bool = False


END = Group((Alternative("", 0),))
"""Nothing more: whether the text may end here."""


class Junction:
    """Where a tail ends and a token may follow.

    Args:
        splitter: of the expression.
        tail: the end of the text.
    """

    def __init__(self, splitter: Splitter, tail: Tail) -> None:
        self._splitter = splitter
        self._tail = tail
        self._start = len(tail.shape)
        self._known: dict[tuple[int, ...], bool] = {}

    def verdict(self, group: Group) -> Verdict:
        """Whether a token of `group` may follow the tail."""
        best = Verdict.NO
        for alternative in group.alternatives:
            found = self._decide(alternative, group.alone)
            if found is Verdict.YES:
                return found
            best = max(best, found)
        return best

    def _decide(self, alternative: Alternative, alone: bool) -> Verdict:
        start = self._start
        end, within = 0, []
        for end in self._splitter.ends(self._tail.shape + alternative.shape):
            if end > start:
                break
            within.append(end)
            if end == start:
                break
        boundaries = tuple(within)
        if boundaries not in self._known:
            self._known[boundaries] = self._stands(boundaries)
        if not self._known[boundaries]:
            return Verdict.NO
        if (
            not start or start in boundaries
        ):  # What is behind a boundary is split as if nothing stood before it.
            return Verdict.YES if _stands_alone(self._splitter, alternative, alone) else Verdict.NO
        fits = not alone and _ends_well(alternative, end - start)
        return Verdict.IF_APART if fits else Verdict.NO

    def _stands(self, boundaries: tuple[int, ...]) -> bool:
        """Whether the tail's tokens are right if the tail is split there."""
        tail, a = self._tail, 0
        for b in boundaries:
            # Every part ends where a token does.
            if b not in tail.marks or not _is_part(tail, a, b, whole=True):
                return False
            a = b
        return a == self._start or _is_part(tail, a, self._start, whole=False)


@lru_cache(maxsize=1 << 16)
def _stands_alone(splitter: Splitter, alternative: Alternative, alone: bool) -> bool:
    """Whether the token is right as the first of a part."""
    if not alternative.shape:
        return True
    end = next(iter(splitter.ends(alternative.shape)))
    return _ends_well(alternative, end) and not (alone and end > alternative.own)


def _ends_well(alternative: Alternative, end: int) -> bool:
    """Whether a part may end there, `end` characters behind where the token begins."""
    return end == alternative.own or end - alternative.own in alternative.joins


def _is_part(tail: Tail, a: int, b: int, whole: bool) -> bool:
    """Whether the tail's tokens between offsets `a` and `b` are right as a part of the text.

    Args:
        whole: the part ends at `b`; else a token behind the tail belongs to it too.
    """
    inside = [n for n, mark in enumerate(tail.marks) if a < mark <= b]
    if whole and (a, b) in tail.replaced:
        return False
    if len(inside) + (not whole) > 1 and any(tail.alone[n] for n in inside):
        return False
    return all(tail.apart[n] for n in inside if tail.marks[n] < b)
