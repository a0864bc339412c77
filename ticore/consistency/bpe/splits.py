"""What a token behind a text does to the way the text is split, decided by its shape.

Only the end of a text can still be split anew: its *tail*. What a token does there depends on the
tail's shape, on where the tail's tokens end and whether they stay apart, and on the token's shape.
There are few of either: how tails of one shape meet all tokens is found out once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from ..patterns import Splitter
from .shapes import Shapes


class Verdict(IntEnum):
    """Whether a token may come next. The highest of several that are found holds."""

    NO = 0
    IF_APART = 1  # if it and the last token do not merge
    YES = 2
    ASK = 3  # not decided here: the tokenizer must say


Boundaries = tuple[int, ...]
"""Offsets into a tail's shape where it is split."""


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
        undecided: only the tokenizer can decide about them.
    """

    alternatives: tuple[Alternative, ...] = ()
    alone: bool = False
    undecided: bool = False


END = Group((Alternative("", 0),))
"""Nothing more: whether the text may end here."""


def decide(splitter: Splitter, tail: Tail, group: Group) -> Verdict:
    """Whether a token of `group` may follow `tail`."""
    if group.undecided:
        return Verdict.ASK
    found = (_meet(splitter, tail.shape, a, group.alone) for a in group.alternatives)
    return max((v for boundaries, v in found if _stands(tail, boundaries)), default=Verdict.NO)


class Meetings:
    """How tails of one shape meet the tokens of all groups. Found out once, in a millisecond.

    Args:
        shapes, splitter: of the expression.
        shape: the tails'.
        groups: of all tokens that there are.
    """

    def __init__(
        self, shapes: Shapes, splitter: Splitter, shape: str, groups: Sequence[Group]
    ) -> None:
        self._shapes = shapes
        self._splitter = splitter
        self._shape = shape
        self._ended: dict[str, Boundaries | None] = {}
        # For each way in which the tail comes to be split the verdicts on the tokens that split
        # it so, uint8[groups], provided that the tail's tokens bear it.
        self._verdicts: dict[Boundaries, bytearray] = {}
        self._undecided = bytearray(Verdict.ASK * group.undecided for group in groups)
        for n, group in enumerate(groups):
            for alternative in group.alternatives:
                self._add(n, alternative, group.alone, len(groups))

    def verdicts(self, tail: Tail) -> npt.NDArray[np.uint8]:
        """`decide` for all groups behind a tail of this shape: uint8[groups]."""
        verdicts = np.array(self._undecided, dtype=np.uint8)
        for boundaries, found in self._verdicts.items():
            if _stands(tail, boundaries):
                np.maximum(verdicts, found, out=verdicts)
        return verdicts

    def _add(self, n: int, alternative: Alternative, alone: bool, size: int) -> None:
        boundaries = self._boundaries_at_end(alternative.shape[: self._splitter.reach])
        if boundaries is None:
            boundaries, verdict = _meet(self._splitter, self._shape, alternative, alone)
        else:
            verdict = _behind_boundary(self._splitter, alternative, alone)
        if verdict is not Verdict.NO:
            verdicts = self._verdicts.setdefault(boundaries, bytearray(size))
            verdicts[n] = max(verdicts[n], verdict)

    def _boundaries_at_end(self, head: str) -> Boundaries | None:
        """Where the tail is split if `head` follows, whatever comes behind it.

        None if that may matter, or if the tail's end is no boundary then.
        """
        if head not in self._ended:
            text, start = self._shape + head, len(self._shape)
            # No expression looks further than one character beyond where a part may end.
            is_split = 0 < start < len(text) and (
                self._shapes.divides(text[start - 1 : start + 1])
                or start in self._splitter.settled(text)
            )
            ends = takewhile(start.__ge__, self._splitter.ends(text))
            self._ended[head] = tuple(ends) if is_split else None
        return self._ended[head]


def _meet(
    splitter: Splitter, shape: str, alternative: Alternative, alone: bool
) -> tuple[Boundaries, Verdict]:
    """Where a tail of `shape` is split if `alternative` follows, and the verdict if it bears that.

    Its end is among the boundaries if the text is split there.
    """
    start = len(shape)
    end, within = 0, []
    for end in splitter.ends(shape + alternative.shape):
        if end > start:
            break
        within.append(end)
        if end == start:
            break
    if not start or start in within:
        return tuple(within), _behind_boundary(splitter, alternative, alone)
    fits = not alone and _ends_well(alternative, end - start)
    return tuple(within), Verdict.IF_APART if fits else Verdict.NO


def _stands(tail: Tail, boundaries: Boundaries) -> bool:
    """Whether the tail's tokens are right if the tail is split there."""
    a = 0
    for b in boundaries:
        # Every part ends where a token does.
        if b not in tail.marks or not _is_part(tail, a, b, whole=True):
            return False
        a = b
    return a == len(tail.shape) or _is_part(tail, a, len(tail.shape), whole=False)


@lru_cache(maxsize=1 << 16)
def _behind_boundary(splitter: Splitter, alternative: Alternative, alone: bool) -> Verdict:
    """What is behind a boundary is split as if nothing stood before it."""
    if not alternative.shape:
        return Verdict.YES
    end = next(iter(splitter.ends(alternative.shape)))
    fits = _ends_well(alternative, end) and not (alone and end > alternative.own)
    return Verdict.YES if fits else Verdict.NO


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
