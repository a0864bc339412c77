"""The pair test for one left token and the whole vocabulary at once.

Think of every token as a node below its left part: the tokens whose left edge passes through s are
the subtree of s. A rule (u, s) of rank c that a left token brings into play forbids s itself, and
of the subtrees below s those where s lasts long enough, which is the last ones if they are sorted
by its peak. Numbered in preorder they are one interval, which depends on the rule alone. So a row
is the union of a few precomputed intervals for each u at the left token's right edge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .derivations import NEVER, Derivations, Ints, Rules

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rows:
    """Which tokens stay apart from a given left token: arrays that can be stored.

    All are int32, but `place`, which is what NumPy takes without a conversion.

    Attributes:
        place: [vocab_size], each reachable token's number in preorder; the others come last.
        first: [vocab_size + 1], the rules whose left side is u are numbers first[u] to first[u+1],
            ordered by `own`.
        rank, starts_at: [rules], the rule's rank and the clock of its right side.
        own, begin, end: [rules], the forbidden numbers: `own`, and `begin` to `end`.
        left, right, clock, right_peak: see Derivations.
    """

    place: npt.NDArray[np.intp]
    first: Ints
    rank: Ints
    starts_at: Ints
    own: Ints
    begin: Ints
    end: Ints
    left: Ints
    right: Ints
    clock: Ints
    right_peak: Ints
    reachable: Bools

    def row(self, left: int) -> Bools:
        """bool[vocab_size]: tokens that `left` followed by them keeps apart, both reachable.

        All False where `left` itself is not reachable: nothing can stand next to it.
        """
        if not self.reachable[left]:
            return np.zeros(len(self.place), dtype=bool)
        forbidden = np.zeros(len(self.place), dtype=bool)
        u, ends, peak = left, NEVER, NEVER
        while u >= 0:
            rules = slice(self.first[u], self.first[u + 1])
            own, begin, end = self.own[rules], self.begin[rules], self.end[rules]
            if ends != NEVER:
                live = (self.rank[rules] < peak) & (self.starts_at[rules] < ends)
                own, begin, end = own[live], begin[live], end[live]
            forbidden[own] = True
            wide = begin < end
            for a, b in zip(begin[wide].tolist(), end[wide].tolist(), strict=True):
                forbidden[a:b] = True
            u, ends, peak = self.right[u], self.clock[u], self.right_peak[u]
        return ~forbidden.take(self.place) & self.reachable

    def apart(self, left: int, right: int) -> bool:
        """`row(left)[right]`, found without the row.

        For each u at the left token's right edge and each s at the right token's left edge it looks
        for their rule, in plain Python: one pair is asked about between two forward passes of a
        model, where NumPy's functions are found outside the processor's caches.
        """
        the = self._numbers
        if not (the.reachable[left] and the.reachable[right]):
            return False
        at = the.place[right]
        u, ends, peak = left, NEVER, NEVER
        while u >= 0:
            low, high = the.first[u], the.first[u + 1]
            s = right
            while s >= 0 and low < high:
                rule = bisect_left(the.own, the.place[s], low, high)
                if (
                    rule < high
                    and the.own[rule] == the.place[s]
                    and (s == right or the.begin[rule] <= at < the.end[rule])
                    and (ends == NEVER or (the.rank[rule] < peak and the.starts_at[rule] < ends))
                ):
                    return False
                high, s = rule, the.left[s]  # whose number is lower
            u, ends, peak = the.right[u], the.clock[u], the.right_peak[u]
        return True

    def check(self, spelled: Sequence[bytes]) -> None:
        """Raises ValueError if these are no rows of such ids: an index would lead astray.

        Args:
            spelled: the bytes of every id.
        """
        size = len(spelled)
        rules = len(self.rank)
        by_token = (self.left, self.right, self.clock, self.right_peak)
        by_rule = (self.rank, self.starts_at, self.own, self.begin, self.end)
        expect(self.place.dtype == np.intp and self.reachable.dtype == bool)
        expect(all(array.dtype == np.int32 for array in (self.first, *by_token, *by_rule)))
        expect(all(array.shape == (size,) for array in (self.place, self.reachable, *by_token)))
        expect(self.first.shape == (size + 1,))
        expect(all(array.shape == (rules,) for array in by_rule))
        expect(all(_within(array, -1, NEVER) for array in (*by_token, self.rank, self.starts_at)))
        expect(_within(self.first, 0, rules) and bool((np.diff(self.first) >= 0).all()))
        expect(_within(self.place, 0, size - 1) and _within(self.own, 0, size - 1))
        expect(_within(self.begin, 0, size) and _within(self.end, 0, size))
        lengths = np.array(list(map(len, spelled)))
        for parts in (self.left, self.right):
            expect(_within(parts, -1, size - 1))
            # A part is shorter than what it is a part of, so that going from part to part ends.
            whole = np.flatnonzero(parts >= 0)
            expect(bool((lengths[parts[whole]] < lengths[whole]).all()))

    @cached_property
    def _numbers(self) -> _Numbers:
        return _Numbers(*(memoryview(getattr(self, name)) for name in _Numbers._fields))


def expect(fits: bool) -> None:
    """Raises ValueError if stored arrays do not fit."""
    if not fits:
        raise ValueError("expected arrays that fit together, found others; make them anew")


def _within(array: npt.NDArray[np.integer], low: int, high: int) -> bool:
    return not array.size or (low <= int(array.min()) and int(array.max()) <= high)


class _Numbers(NamedTuple):
    """The same arrays, whose elements are Python's numbers."""

    place: memoryview
    first: memoryview
    rank: memoryview
    starts_at: memoryview
    own: memoryview
    begin: memoryview
    end: memoryview
    left: memoryview
    right: memoryview
    clock: memoryview
    right_peak: memoryview
    reachable: memoryview


def rows(known: Rules, runs: Derivations) -> Rows:
    """Lay out the rows of a vocabulary."""
    forest = _Forest(runs)
    both = runs.reachable[known.left] & runs.reachable[known.right]
    order = np.lexsort((forest.place[known.right[both]], known.left[both]))
    left, right, rank = (a[both][order] for a in (known.left, known.right, known.rank))
    # s must outlast u's arrival. Below an s that is itself no sooner there than u, it always does.
    needed = np.where(
        runs.clock[right] >= runs.clock[left], rank, np.maximum(rank, runs.clock[left])
    )
    return Rows(
        place=forest.place.astype(np.intp),
        first=np.searchsorted(left, np.arange(len(runs.left) + 1)).astype(np.int32),
        rank=rank,
        starts_at=runs.clock[right],
        own=forest.place[right],
        begin=forest.first_child(right, needed),
        end=forest.end[right],
        left=runs.left,
        right=runs.right,
        clock=runs.clock,
        right_peak=runs.right_peak,
        reachable=runs.reachable,
    )


def column(known: Rules, runs: Derivations, right: int) -> Bools:
    """bool[vocab_size]: tokens that stay apart from `right` behind them, both reachable.

    The pair test of `derivations`, for all left tokens side by side.
    """
    merges = np.zeros(len(runs.left), dtype=bool)
    s, s_ends, s_peak = right, NEVER, NEVER
    while s >= 0:
        ranks = np.full(len(runs.left), NEVER, dtype=np.int32)
        ranks[known.left[known.right == s]] = known.rank[known.right == s]
        tokens = u = np.arange(len(runs.left))
        ends = peak = np.full(len(runs.left), NEVER, dtype=np.int32)
        while len(u):
            rank = ranks[u]
            hit = (rank < peak) & (rank <= s_peak) & (runs.clock[u] <= s_ends)
            merges[tokens[hit & (runs.clock[s] < ends)]] = True
            inner = runs.right[u] >= 0
            tokens, u = tokens[inner], u[inner]
            ends, peak, u = runs.clock[u], runs.right_peak[u], runs.right[u]
        s, s_ends, s_peak = runs.left[s], runs.clock[s], runs.left_peak[s]
    apart: Bools = ~merges & runs.reachable & runs.reachable[right]
    return apart


class _Forest:
    """The reachable tokens, each below its left part, brothers in the order of their peaks."""

    def __init__(self, runs: Derivations) -> None:
        self._peaks = runs.left_peak
        child = np.flatnonzero(runs.reachable & (runs.left >= 0))
        child = child[np.lexsort((runs.left_peak[child], runs.left[child]))]
        parent = runs.left[child]
        self._child = child
        self._keys = parent.astype(np.int64) << 32 | runs.left_peak[child]

        depth = np.zeros(len(runs.left), dtype=np.int32)
        above = runs.left
        while (below_root := above >= 0).any():
            depth += below_root
            above = np.where(below_root, runs.left[above], -1)

        size = runs.reachable.astype(np.int32)
        levels = [np.flatnonzero(depth[child] == d) for d in range(1, depth.max(initial=0) + 1)]
        for level in reversed(levels):
            np.add.at(size, parent[level], size[child[level]])
        before = np.cumsum(size[child]) - size[child]
        before -= before[np.searchsorted(parent, parent)]  # of the elder brothers only
        place = np.zeros(len(runs.left), dtype=np.int32)
        roots = np.flatnonzero(runs.left < 0)
        # What is not reachable comes last, as leaves that no rule's interval holds.
        roots = roots[np.argsort(~runs.reachable[roots], kind="stable")]
        place[roots] = np.cumsum(np.maximum(size[roots], 1)) - np.maximum(size[roots], 1)
        for level in levels:
            place[child[level]] = place[parent[level]] + 1 + before[level]
        self.place: Ints = place
        self.end: Ints = place + size

    def first_child(self, parent: Ints, peak: Ints) -> Ints:
        """The place of the first child of each `parent` that has at least that `peak`."""
        at = np.searchsorted(self._keys, parent.astype(np.int64) << 32 | peak)
        child = np.append(self._child, 0)[at]
        found = np.append(self._keys >> 32, -1)[at] == parent
        return np.where(found, self.place[child], self.end[parent]).astype(np.int32)
