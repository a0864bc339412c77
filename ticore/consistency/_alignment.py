"""Which stretches two sequences share, also where they are long or repeat themselves.

`difflib.SequenceMatcher` takes time with the square of the length, and more where few items come
again and again. So it aligns short sequences alone. Others are aligned change by change:

    The morning was cold, but the sea        equal up to a change, then the nearest place from
    The morning was warm, but the sea        which both go on alike for some items

What lies in a change is aligned in the same way, by shorter stretches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from .._support.common_beginning import common_length

_ALIKE = 16  # equal items that end a change
_MOST_CHANGED = 1 << 13  # items of both sides in one change
_MOST_COMPARISONS = 1 << 22  # that SequenceMatcher may make, a second's work or less
_AT_ONCE = 1 << 12  # items that are compared at a time


class Match(NamedTuple):
    """A stretch that two sequences share: `a[begin : begin + size]` and `b[begin_b : ...]`."""

    begin: int
    begin_b: int
    size: int


def matches(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Match]:
    """The stretches that two sequences share, in their order in both.

    >>> matches(["the", "old", "sea", "is", "calm"], ["the", "sea", "was", "calm"])
    [Match(begin=0, begin_b=0, size=1), Match(begin=2, begin_b=1, size=1), \
Match(begin=4, begin_b=3, size=1)]
    """
    return [*_matches(*_as_strings(a, b), _ALIKE)]


def next_change(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int] | None:
    """How many items of each are changed at their beginning, until both go on alike.

    None if they do not, or only after a long change or for a few items.
    """
    one, other = _as_strings(a, b)
    return _next_alike(one, 0, other, 0, _ALIKE // 2)


def _as_strings(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[str, str]:
    """A character for each item: strings are searched fast."""
    letters = {item: chr(n) for n, item in enumerate(dict.fromkeys(chain(a, b)))}
    return "".join(map(letters.__getitem__, a)), "".join(map(letters.__getitem__, b))


def _next_alike(a: str, begin: int, b: str, begin_b: int, alike: int) -> tuple[int, int] | None:
    """How many items of each are changed from two places on, until both go on alike.

    Args:
        a, begin, b, begin_b: the sequences and the places.
        alike: how many equal items end the change.

    Returns:
        Two counts with the least sum; None if there are none, or if the change is too long.
    """
    best, least = None, _MOST_CHANGED
    for lost in range(len(a) - begin - alike + 1):
        if lost >= least:
            break
        sought = a[begin + lost : begin + lost + alike]
        found = b.find(sought, begin_b, begin_b + least - lost + alike - 1)
        if found >= 0:
            best = lost, found - begin_b
            least = sum(best)
    return best


def _equal_length(a: str, begin: int, b: str, begin_b: int) -> int:
    """With how many equal items both go on; at most as many as are compared at a time."""
    return common_length(a[begin : begin + _AT_ONCE], b[begin_b : begin_b + _AT_ONCE])


def _matches(a: str, b: str, alike: int) -> Iterator[Match]:
    """The matches of two strings, whose changes end where `alike` characters are equal."""
    if _takes_few_comparisons(a, b):
        blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
        yield from (Match(*block) for block in blocks[:-1])  # the last one is empty
        return
    if not alike:
        return
    at = at_b = 0
    while at < len(a) and at_b < len(b):
        if same := _equal_length(a, at, b, at_b):
            yield Match(at, at_b, same)
            at, at_b = at + same, at_b + same
            continue
        changed = _next_alike(a, at, b, at_b, alike)
        end, end_b = (len(a), len(b)) if changed is None else (at + changed[0], at_b + changed[1])
        for found in _matches(a[at:end], b[at_b:end_b], alike // 2):
            yield Match(at + found.begin, at_b + found.begin_b, found.size)
        at, at_b = end, end_b


def _takes_few_comparisons(a: str, b: str) -> bool:
    """Whether SequenceMatcher is fast: it looks at all pairs of equal items, for each match."""
    if len(a) > _MOST_CHANGED or len(b) > _MOST_CHANGED:
        return False
    here, there = Counter(a), Counter(b)
    pairs = sum(count * there[letter] for letter, count in here.items())
    return pairs * min(len(a), len(b)) <= _MOST_COMPARISONS
