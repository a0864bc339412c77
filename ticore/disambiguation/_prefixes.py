"""Which strings of a vocabulary begin which: a forest, and the part of it that a pool needs.

In sorted order a string stands directly before all the strings that it begins:

    a  ab  abc  b      "a" begins the two after it, "ab" the one after it

So the vocabulary is sorted once. A pool is sorted by the ranks of its tokens in that order, and all
questions are answered by comparing ranks, without looking at a string again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..candidates import Bools, Ints

Strings = Literal["bytes", "decoded"]
"""How tokens are compared: by their bytes, or by the texts that `decode` gives for each alone."""


class PrefixForest:
    """The strings of a vocabulary, each below the longest other one that begins it.

    Args:
        strings: one for each token.

    Attributes:
        rank: int64[tokens], the place of each token's string among the distinct ones in order.
        end: int64[distinct strings]; that of rank r begins those of the ranks r to end[r] - 1.
        longest: the most bytes that a string has.
    """

    def __init__(self, strings: Sequence[bytes]) -> None:
        self._ordered = sorted(set(strings))
        ranks = {string: rank for rank, string in enumerate(self._ordered)}
        self.rank: Ints = np.array([ranks[string] for string in strings], dtype=np.int64)
        self.end: Ints = np.array(_ends(self._ordered), dtype=np.int64)
        self.longest = max(map(len, strings), default=0)

    def among(self, ids: Ints) -> Preorder:
        """The part of the forest that holds the tokens `ids`."""
        ranks = self.rank[ids]
        order = np.argsort(ranks, kind="stable")
        first = order[np.diff(ranks[order], prepend=-1) > 0]
        return Preorder(len(ids), first, np.searchsorted(ranks[first], self.end[ranks[first]]))

    def trees(self, ids: Ints) -> Ints:
        """For each of the tokens `ids` the number of its tree among them, from 0: int64[n]."""
        order = self.among(ids)
        roots = order.place[order.outermost(np.ones(len(order.place), dtype=bool))]
        trees: Ints = np.searchsorted(self.rank[ids[roots]], self.rank[ids], side="right") - 1
        return trees

    def beginning(self, ids: Ints, text: bytes) -> Ints:
        """Indices in `ids` of the tokens whose strings begin `text`, in any order: int64[n].

        Args:
            ids: tokens.
            text: may be cut off after `longest` bytes.
        """
        # A string that begins the text also begins every string that is sorted between the two.
        last = bisect_right(self._ordered, text) - 1
        ranks = self.rank[ids]
        found = np.flatnonzero((ranks <= last) & (last < self.end[ranks]))
        return found[[text.startswith(self._ordered[rank]) for rank in ranks[found].tolist()]]


@dataclass(frozen=True)
class Preorder:
    """The distinct strings of some tokens, each right before those that it begins.

    Attributes:
        tokens: how many tokens there are.
        place: int64[n], for each string the index of the first token that has it.
        stop: int64[n]; string i begins the strings i to stop[i] - 1, and no other.
    """

    tokens: int
    place: Ints
    stop: Ints

    @property
    def leaves(self) -> Bools:
        """The strings that begin no other: bool[n]."""
        leaves: Bools = self.stop == np.arange(1, len(self.stop) + 1)
        return leaves

    def outermost(self, which: Bools) -> Bools:
        """Of the strings in `which`, bool[n], those that no other of them begins: bool[n]."""
        at = np.flatnonzero(which)
        reach = np.maximum.accumulate(self.stop[at])
        found = np.zeros(len(which), dtype=bool)
        found[at] = at >= np.concatenate(([0], reach))[:-1]
        return found

    def levels(self) -> list[Ints]:
        """The strings by how many others begin them: none, one, and so on."""
        at = np.arange(len(self.stop))
        # All strings before it but those that have come to their stop.
        level = at - np.searchsorted(np.sort(self.stop), at, side="right")
        bounds = np.cumsum(np.bincount(level))
        return np.split(np.argsort(level, kind="stable"), bounds[:-1])

    def mask(self, which: Bools) -> Bools:
        """The first tokens of the strings in `which`, bool[n]: bool[tokens]."""
        mask = np.zeros(self.tokens, dtype=bool)
        mask[self.place[which]] = True
        return mask


def _ends(ordered: Sequence[bytes]) -> list[int]:
    """For each of the distinct strings in order, the place after the last one that it begins.

    >>> _ends([b"a", b"ab", b"abc", b"b"])
    [3, 3, 3, 4]
    """
    ends = [len(ordered)] * len(ordered)
    around: list[int] = []  # those that begin the string before, the shortest first
    for at, string in enumerate(ordered):
        while around and not string.startswith(ordered[around[-1]]):
            ends[around.pop()] = at
        around.append(at)
    return ends
