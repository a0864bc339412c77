"""The pair test for one left token and the whole vocabulary at once.

Hang every token below its left part. The tokens whose left edge passes through s are then the
subtree of s, and numbers in preorder make that subtree one interval:

    vocabulary a, ab, abc, ad, b        a          preorder    a  ab  abc  ad  b
    abc = ab + c, ab = a + b,          / \\                     0   1   2    3  4
    ad = a + d                        ab  ad
                                      |             subtree of a:  0 to 4 (not included)
                                      abc           subtree of ab: 1 to 3

A rule u + s of rank c, with u at the right edge of the left token, forbids as the right token

1. s itself, if conditions (a) and (c) of `pair_test` hold. Of the left token they ask only how u is
   used up in it. (b) and (d) always hold here, since s is not used up.
2. the tokens below s for which (b) and (d) hold as well, because s waits long enough in them. The
   left edge of a token below s passes through one child x of s, and it is x that uses s up. So (b)
   and (d) ask for made_at[u] <= made_at[x] and c <= deadline of s in x. Sort the children of s by
   that deadline: those to be forbidden come last. With their subtrees they are one interval.

The interval of case 2 depends on the rule alone, so it is computed once. A row of the table is the
union of a few intervals for each u at the right edge of the left token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.packed_bits import Words, pack, word_count
from ..._arrays import Bools
from .merge_rules import Ints, MergeRules
from .merge_trees import MergeTrees
from .rule_index import NEVER

_FEW_RULES = 12


@dataclass(frozen=True, eq=False)
class PairTable:
    """Which tokens do not merge with a given left token: arrays that can be stored.

    All arrays are int32, except `preorder` (intp: NumPy indexes by it without a conversion) and
    `reachable` (bool).
    "Rules" are those whose two sides are reachable, ordered by left side, then by `whole`.

    Attributes:
        preorder: intp[vocab_size], each reachable token's number; the other ids come last.
        first_rule: [vocab_size + 1], the rules with u on the left are first_rule[u] up to
            first_rule[u + 1].
        rank: [rules], the rule's rank.
        right_made_at: [rules], `made_at` of the rule's right side s.
        whole: [rules], the preorder number of s: forbidden by case 1.
        begin, end: [rules], the preorder numbers from `begin` up to `end` are forbidden by case 2.
        left_part, right_part, made_at, right_deadline, reachable: see `MergeTrees`.
    """

    preorder: npt.NDArray[np.intp]
    first_rule: Ints
    rank: Ints
    right_made_at: Ints
    whole: Ints
    begin: Ints
    end: Ints
    left_part: Ints
    right_part: Ints
    made_at: Ints
    right_deadline: Ints
    reachable: Bools

    def unmerged_after(self, left: int) -> Bools:
        """bool[vocab_size]: the tokens that `left` does not merge with, both reachable.

        All False where `left` is not reachable: no token can stand next to it.
        """
        if not self.reachable[left]:
            return np.zeros(len(self.preorder), dtype=bool)
        unmerged = self.reachable.copy()
        self._exclude_merging(left, unmerged)
        return unmerged

    def packed_unmerged_after(self, left: int) -> Words:
        """`unmerged_after` with one bit per token, a new array; see `packed_bits`."""
        if not self.reachable[left]:
            return np.zeros(word_count(len(self.preorder)), dtype=np.uint32)
        unmerged = self._reachable_in_words.copy()
        self._exclude_merging(left, unmerged)
        return pack(unmerged)

    def _exclude_merging(self, left: int, unmerged: Bools) -> None:
        """Set `unmerged` to False for the tokens that `left`, a reachable one, merges with."""
        table, order = self._numbers, self._order
        u, used_up_at, deadline = left, NEVER, NEVER
        while u >= 0:
            low, high = table.first_rule[u], table.first_rule[u + 1]
            if high - low <= _FEW_RULES:  # NumPy's functions would take longer
                for rule in range(low, high):
                    if used_up_at == NEVER or (
                        table.rank[rule] < deadline and table.right_made_at[rule] < used_up_at
                    ):
                        unmerged[order[table.whole[rule]]] = False
                        if table.begin[rule] < table.end[rule]:
                            unmerged[order[table.begin[rule] : table.end[rule]]] = False
            else:
                rules = slice(low, high)
                whole, begin, end = self.whole[rules], self.begin[rules], self.end[rules]
                if used_up_at != NEVER:
                    live = (self.rank[rules] < deadline) & (self.right_made_at[rules] < used_up_at)
                    whole, begin, end = whole[live], begin[live], end[live]
                unmerged[order[whole]] = False
                not_empty = begin < end
                for a, b in zip(begin[not_empty].tolist(), end[not_empty].tolist(), strict=True):
                    unmerged[order[a:b]] = False
            u, used_up_at, deadline = table.right_part[u], table.made_at[u], table.right_deadline[u]

    def do_not_merge(self, left: int, right: int) -> bool:
        """`unmerged_after(left)[right]`, found without the row.

        For each u at the left token's right edge and each s at the right token's left edge it looks
        for their rule. It does so in plain Python: one pair is asked about between two forward
        passes of a model, when the code of NumPy's functions has left the processor's caches.
        """
        # As local names, which Python looks up fastest.
        (
            preorder,
            first_rule,
            rank,
            right_made_at,
            whole,
            begin,
            end,
            left_part,
            right_part,
            made_at,
            right_deadline,
            reachable,
        ) = self._numbers
        if not (reachable[left] and reachable[right]):
            return False
        right_number = preorder[right]
        u, used_up_at, deadline = left, NEVER, NEVER
        while True:
            low, high = first_rule[u], first_rule[u + 1]
            s = right
            while low < high and s >= 0:
                number = preorder[s]
                rule = bisect_left(whole, number, low, high)
                if (
                    rule < high
                    and whole[rule] == number
                    and (s == right or begin[rule] <= right_number < end[rule])
                    and (
                        used_up_at == NEVER
                        or (rank[rule] < deadline and right_made_at[rule] < used_up_at)
                    )
                ):
                    return False
                # The left part of s has a lower number, and so has its rule.
                high, s = rule, left_part[s]
            if (part := right_part[u]) < 0:
                return True
            u, used_up_at, deadline = part, made_at[u], right_deadline[u]

    def unmerged_before(self, rights: Sequence[int]) -> Bools:
        """`unmerged_after(left)[right]` for all left tokens and some right ones.

        Returns:
            bool[len(rights), vocab_size].
        """
        unmerged: Bools = np.logical_and.outer(self.reachable[list(rights)], self.reachable)
        edges = list(self._right_edges()) if len(rights) else []
        rule_of = np.empty(len(self.reachable), dtype=np.int32)
        for row, right in zip(unmerged, rights, strict=True):
            place, s = self.preorder[right], right
            while s >= 0:
                of_s = self.whole == self.preorder[s]
                if s != right:
                    of_s &= (self.begin <= place) & (place < self.end)
                rules = np.flatnonzero(of_s)
                rule_of.fill(-1)
                rule_of[np.searchsorted(self.first_rule, rules, side="right") - 1] = rules
                for edge in edges if len(rules) else ():
                    rule = rule_of[edge.u]
                    hit = np.flatnonzero(rule >= 0)
                    rule = rule[hit]
                    used_up_at = edge.used_up_at[hit]
                    is_live = (used_up_at == NEVER) | (
                        (self.rank[rule] < edge.deadline[hit])
                        & (self.right_made_at[rule] < used_up_at)
                    )
                    row[edge.tokens[hit[is_live]]] = False
                s = int(self.left_part[s])
        return unmerged

    def _right_edges(self) -> Iterator[_Edge]:
        """The tokens themselves, then the right part of each that has one, and so on."""
        tokens = np.flatnonzero(self.reachable)
        u = tokens.astype(np.int32)
        used_up_at = deadline = np.full(len(tokens), NEVER, dtype=np.int32)
        while len(tokens):
            yield _Edge(tokens, u, used_up_at, deadline)
            has_parts = self.right_part[u] >= 0
            tokens, u = tokens[has_parts], u[has_parts]
            used_up_at, deadline, u = self.made_at[u], self.right_deadline[u], self.right_part[u]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays by the names they are stored under; `from_arrays` is the way back."""
        return {stored: getattr(self, name) for name, stored in _STORED_NAMES.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> PairTable:
        """The table of stored arrays, not checked yet; raises KeyError where one is missing."""
        return cls(**{name: arrays[stored] for name, stored in _STORED_NAMES.items()})

    def check(self, spelled: Sequence[bytes]) -> None:
        """Check stored arrays, so that no index leads outside of one and no walk is endless.

        Args:
            spelled: the bytes of every id.

        Raises:
            ValueError: these are not the tables of such ids.
        """
        size = len(spelled)
        rules = len(self.rank)
        by_token = (self.left_part, self.right_part, self.made_at, self.right_deadline)
        by_rule = (self.rank, self.right_made_at, self.whole, self.begin, self.end)
        expect(self.preorder.dtype == np.intp and self.reachable.dtype == bool)
        expect(all(array.dtype == np.int32 for array in (self.first_rule, *by_token, *by_rule)))
        expect(all(array.shape == (size,) for array in (self.preorder, self.reachable, *by_token)))
        expect(self.first_rule.shape == (size + 1,))
        expect(all(array.shape == (rules,) for array in by_rule))
        clocks = (*by_token, self.rank, self.right_made_at)
        expect(all(_is_within(array, -1, NEVER) for array in clocks))
        expect(_is_within(self.first_rule, 0, rules))
        expect(bool((np.diff(self.first_rule) >= 0).all()))
        expect(_is_within(self.preorder, 0, size - 1) and _is_within(self.whole, 0, size - 1))
        expect(_is_within(self.begin, 0, size) and _is_within(self.end, 0, size))
        lengths = np.fromiter(map(len, spelled), dtype=np.int32, count=size)
        for parts in (self.left_part, self.right_part):
            expect(_is_within(parts, -1, size - 1))
            # A part is shorter than its token, so a walk from part to part ends.
            has_parts = np.flatnonzero(parts >= 0)
            expect(bool((lengths[parts[has_parts]] < lengths[has_parts]).all()))

    @cached_property
    def _reachable_in_words(self) -> Bools:
        """`reachable`, followed by False up to a multiple of 32."""
        padded = np.zeros(32 * word_count(len(self.reachable)), dtype=bool)
        padded[: len(self.reachable)] = self.reachable
        return padded

    @cached_property
    def _order(self) -> npt.NDArray[np.intp]:
        """intp[vocab_size]: the ids in preorder."""
        return np.argsort(self.preorder, kind="stable")

    @cached_property
    def bit_at_place(self) -> tuple[npt.NDArray[np.intp], Words]:
        """The bit of the token with each preorder number: its word, and that word with this bit."""
        words, bits = np.divmod(self._order, 32)
        return words, np.left_shift(np.uint32(1), bits.astype(np.uint32))

    @cached_property
    def _numbers(self) -> _Numbers:
        return _Numbers(*(memoryview(getattr(self, name)) for name in _Numbers._fields))


# Cached files have these names, so they stay even where a field is renamed.
_STORED_NAMES = {
    "preorder": "place",
    "first_rule": "first",
    "rank": "rank",
    "right_made_at": "starts_at",
    "whole": "own",
    "begin": "begin",
    "end": "end",
    "left_part": "left",
    "right_part": "right",
    "made_at": "clock",
    "right_deadline": "right_peak",
    "reachable": "reachable",
}
assert list(_STORED_NAMES) == [field.name for field in fields(PairTable)]


def expect(fits: bool) -> None:
    """Raise ValueError if stored arrays do not fit together."""
    if not fits:
        raise ValueError(
            "expected the arrays of one table, found some that do not fit together; "
            "delete the cached file, and it is built again"
        )


def _is_within(array: npt.NDArray[np.integer], low: int, high: int) -> bool:
    return not array.size or (low <= int(array.min()) and int(array.max()) <= high)


class _Numbers(NamedTuple):
    """The arrays of a PairTable as memoryviews, whose elements are Python ints."""

    preorder: memoryview
    first_rule: memoryview
    rank: memoryview
    right_made_at: memoryview
    whole: memoryview
    begin: memoryview
    end: memoryview
    left_part: memoryview
    right_part: memoryview
    made_at: memoryview
    right_deadline: memoryview
    reachable: memoryview


class _Edge(NamedTuple):
    """One token at the right edge of each of many tokens; see `pair_test`.

    Attributes:
        tokens: intp[n].
        u: of each of these tokens, int32[n].
        used_up_at, deadline: of u, int32[n].
    """

    tokens: npt.NDArray[np.intp]
    u: Ints
    used_up_at: Ints
    deadline: Ints


def build_pair_table(rules: MergeRules, trees: MergeTrees) -> PairTable:
    """The table of a vocabulary: number the tokens, and find the intervals of each rule."""
    forest = _LeftPartForest(trees)
    both = trees.reachable[rules.left] & trees.reachable[rules.right]
    order = np.lexsort((forest.preorder[rules.right[both]], rules.left[both]))
    left, right, rank = (a[both][order] for a in (rules.left, rules.right, rules.rank))
    # (d) asks for a deadline of at least the rank. (b) asks that s is not used up before u is made.
    # If s is made no sooner than u, that always holds. Else the deadline of s tells.
    least_deadline = np.where(
        trees.made_at[right] >= trees.made_at[left], rank, np.maximum(rank, trees.made_at[left])
    )
    return PairTable(
        preorder=forest.preorder.astype(np.intp),
        first_rule=np.searchsorted(left, np.arange(len(trees.left_part) + 1)).astype(np.int32),
        rank=rank,
        right_made_at=trees.made_at[right],
        whole=forest.preorder[right],
        begin=forest.first_child(right, least_deadline),
        end=forest.end[right],
        left_part=trees.left_part,
        right_part=trees.right_part,
        made_at=trees.made_at,
        right_deadline=trees.right_deadline,
        reachable=trees.reachable,
    )


class _LeftPartForest:
    """Each reachable token below its left part, siblings ordered by the left part's deadline.

    Attributes:
        preorder: int32[vocab_size], the tokens' numbers.
        end: int32[vocab_size], the number after the last one of a token's subtree.
    """

    def __init__(self, trees: MergeTrees) -> None:
        child = np.flatnonzero(trees.reachable & (trees.left_part >= 0))
        child = child[np.lexsort((trees.left_deadline[child], trees.left_part[child]))]
        parent = trees.left_part[child]
        self._child = child
        self._keys = parent.astype(np.int64) << 32 | trees.left_deadline[child]

        depth = np.zeros(len(trees.left_part), dtype=np.int32)
        above = trees.left_part
        while (is_below_root := above >= 0).any():
            depth += is_below_root
            above = np.where(is_below_root, trees.left_part[above], -1)

        size = trees.reachable.astype(np.int32)
        levels = [np.flatnonzero(depth[child] == d) for d in range(1, depth.max(initial=0) + 1)]
        for level in reversed(levels):
            np.add.at(size, parent[level], size[child[level]])
        before = np.cumsum(size[child]) - size[child]
        before -= before[np.searchsorted(parent, parent)]  # count earlier siblings alone
        preorder = np.zeros(len(trees.left_part), dtype=np.int32)
        roots = np.flatnonzero(trees.left_part < 0)
        # Ids that are not reachable come last, as leaves outside of every rule's interval.
        roots = roots[np.argsort(~trees.reachable[roots], kind="stable")]
        preorder[roots] = np.cumsum(np.maximum(size[roots], 1)) - np.maximum(size[roots], 1)
        for level in levels:
            preorder[child[level]] = preorder[parent[level]] + 1 + before[level]
        self.preorder: Ints = preorder
        self.end: Ints = preorder + size

    def first_child(self, parent: Ints, deadline: Ints) -> Ints:
        """For each pair the number of the first child of `parent` with at least that `deadline`.

        Where there is no such child, the number after the parent's subtree.
        """
        at = np.searchsorted(self._keys, parent.astype(np.int64) << 32 | deadline)
        child = np.append(self._child, 0)[at]
        found = np.append(self._keys >> 32, -1)[at] == parent
        return np.where(found, self.preorder[child], self.end[parent]).astype(np.int32)
