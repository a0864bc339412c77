"""The best segmentations of every beginning of a piece, and of every ending of such a beginning.

They answer for most pieces, whatever the text before them is. A piece w comes last in the best
segmentation of a text followed by w, unless a segmentation beats it that

1. cuts at the beginning of w too, and again inside w: then w loses after most other texts as well;
2. does not cut at the beginning of w: it has a *crossing* piece there.

The tables hold sums of scores. The sums of the library differ from them by roundings, which depend
on the text before. Where a difference is not larger than the roundings may be, a piece is unsure.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from math import inf

import numpy as np
import numpy.typing as npt

from ...._support.caches import cached_method
from ..._arrays import Bools
from .trie import Ints, Longs, Trie

Singles = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[np.generic]]

# The relative error of one sum, rounded to float32, and of one entry of a table.
_ROUNDING = 2.0**-24
# Roundings that no step of a segmentation stands for: those of tables, and where a sum is reset.
_MORE_ROUNDINGS = 8
_NONE_YET = -1


class Segmentations:
    """The tables for one trie. Thread-safe.

    Args:
        trie: the pieces and what competes with them.
        unknown: the score of a character that is not a piece.
        tables: as `tables` of an equal one gives them; None to compute them.

    Attributes:
        reach: no sum inside a piece is farther from zero than this.
    """

    def __init__(self, trie: Trie, unknown: float, tables: Arrays | None = None) -> None:
        self._trie = trie
        depth = trie.depth.astype(np.int64)
        # int64[nodes], where the row of each node begins in the tables below: it has a column for
        # each character of its text.
        self._rows: Longs = np.cumsum(depth) - depth
        made = _compute(trie, self._rows, unknown) if tables is None else tables
        # For each ending of the text of each node: its node, or -1, and the sum of its best
        # segmentation; -inf if it has none.
        self._endings: Ints = np.asarray(made["endings"], dtype=np.int32)
        self._sums: Singles = np.asarray(made["sums"], dtype=np.float32)
        # For each node, how far its own score is above the sum of the best other segmentation.
        self._leads: Singles = np.asarray(made["leads"], dtype=np.float32)
        total = int(depth.sum())
        sizes = self._endings.shape, self._sums.shape, self._leads.shape
        if sizes != ((total,), (total,), (len(depth),)):
            raise ValueError("the tables are not of this trie")
        self._places, self._sizes = trie.preorder()
        scored = np.flatnonzero(trie.scores > -inf)
        self._scored: Longs = scored[np.argsort(self._places[scored])]
        self._scored_places: Longs = self._places[self._scored]
        self.reach = float(np.asarray(made["reach"], dtype=np.float64)[0])

    def tables(self) -> Arrays:
        """What took long to compute."""
        reach = np.array([self.reach])
        return {"endings": self._endings, "sums": self._sums, "leads": self._leads, "reach": reach}

    def candidates(self, ids: Longs, nodes: Ints) -> Candidates:
        """Answers about some pieces: their ids, and their nodes."""
        return Candidates(self, self._trie, ids, nodes)

    def leads(self, nodes: Ints) -> Singles:
        """How far the score of each node is above that of the best other segmentation of it."""
        return self._leads[nodes]

    def least_lag(self, node: int) -> float:
        """The sum of the best segmentation of a node's text: float32."""
        return float(self._sums[self._rows[node]])

    def place(self, nodes: Ints) -> tuple[Longs, Longs]:
        """The places of the texts that begin with that of a node: first, and last + 1."""
        return self._places[nodes], self._places[nodes] + self._sizes[nodes]

    def crossing(self, node: int) -> tuple[Ints, npt.NDArray[np.float64]]:
        """What completes the text of `node` to a longer piece, if a piece begins with that.

        Returns:
            The nodes of what completes it, int32[n]; and the scores of the longer pieces.
        """
        begin = self._places[node]
        first, last = np.searchsorted(self._scored_places, (begin + 1, begin + self._sizes[node]))
        longer = self._scored[first:last]
        rests = self._endings[self._rows[longer] + self._trie.depth[node]]
        known = rests >= 0
        return rests[known], self._trie.scores[longer[known]]

    def sums_after(self, nodes: Ints, lengths: Ints) -> npt.NDArray[np.float64]:
        """The sum of the best segmentation of what is left of a node without its beginning.

        Args:
            nodes: the nodes, int32[n].
            lengths: how many characters each beginning has, int32[n].
        """
        inside = lengths < self._trie.depth[nodes]
        found = np.zeros(len(nodes))
        found[inside] = self._sums[(self._rows[nodes] + lengths)[inside]]
        return found


class Candidates:
    """Which pieces a text may go on with, as far as segmentations decide. Thread-safe.

    Args:
        tables: the segmentations.
        trie: theirs.
        ids: int64[n], the ids of the pieces.
        nodes: int32[n], their nodes.

    Attributes:
        alone: bool[n], whether each is its own best segmentation, but for the unsure ones.
    """

    def __init__(self, tables: Segmentations, trie: Trie, ids: Longs, nodes: Ints) -> None:
        self._tables, self._trie = tables, trie
        leads, steps = tables.leads(nodes), trie.depth[nodes] + _MORE_ROUNDINGS
        self.alone: Bools = leads > 0
        # Unsure are those whose lead is small for the number of steps, the smallest first.
        small = np.abs(leads, dtype=np.float64) / steps
        by_lead = np.argsort(small, kind="stable")
        by_lead = by_lead[small[by_lead] < inf]
        self._small, self._small_ids = small[by_lead].tolist(), ids[by_lead]
        places, _ = tables.place(nodes)
        order = np.argsort(places)
        self._places, self._ids, self._nodes = places[order], ids[order], nodes[order]
        self._most_steps = int(steps.max(initial=0))

    def unsure_alone(self, far: float) -> Longs:
        """Ids of pieces of which `alone` may be wrong, where sums are up to `far` from zero."""
        return self._small_ids[: bisect_right(self._small, far * _ROUNDING)]

    def beaten(self, node: int, ahead: float, far: float) -> tuple[Ints, Ints]:
        """Pieces that a crossing piece beats which began with the text of `node`.

        Args:
            node: the text so far of the crossing piece.
            ahead: how far the best sum now is above the best sum before the crossing piece.
            far: no sum is farther from zero.

        Returns:
            Ids of those that are beaten, and of those that may be.
        """
        ids, limits, steps = self._rivals(node)
        error = far * _ROUNDING
        begin, end = self.window(node, ahead, far)
        if begin == end:
            return ids[end:], ids[:0]
        # The roundings of most pieces are fewer.
        above = (limits[begin:end].astype(np.float64) - ahead) / steps[begin:end]
        some = ids[begin:end]
        surely = some[above > error]
        return np.concatenate([surely, ids[end:]]), some[abs(above) <= error]

    def window(self, node: int, ahead: float, far: float) -> tuple[int, int]:
        """For the arguments of `beaten`, where the pieces that are surely beaten begin.

        Returns:
            Places in the order of `beaten_from`: pieces before the first one are not beaten, those
            from the second one on are, and between them they may be.
        """
        limits = self._limits(node)
        most = far * _ROUNDING * self._most_steps
        begin = bisect_left(limits, ahead - most)
        return begin, bisect_left(limits, ahead + most, lo=begin)

    def beaten_from(self, node: int, begin: int, end: int | None = None) -> Ints:
        """The ids of the pieces at these places; see `window`."""
        return self._rivals(node)[0][begin:end]

    @cached_method(1 << 12)
    def _limits(self, node: int) -> memoryview:
        """The limits of `_rivals`. To look up two of them, NumPy's functions would take longer."""
        return self._rivals(node)[1].data

    @cached_method(1 << 12)
    def _rivals(self, node: int) -> tuple[Ints, Singles, npt.NDArray[np.uint16]]:
        """Ids of pieces, and how far ahead the best sum must be for each not to be beaten.

        The lowest limit comes first. A piece may come several times.

        Returns:
            Ids; limits; and how many roundings there may be for each.
        """
        rests, scores = self._tables.crossing(node)
        begins, ends = self._tables.place(rests)
        first, last = np.searchsorted(self._places, (begins, ends))
        counts = last - first
        of = np.repeat(np.arange(len(rests)), counts)
        which = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts) + first[of]
        nodes = self._nodes[which]
        after = self._tables.sums_after(nodes, self._trie.depth[rests[of]])
        limits = scores[of] + after - self._trie.scores[nodes]
        # The best sum is at least as far ahead as the best segmentation of the text so far.
        least = self._tables.least_lag(node)
        slack = self._most_steps * _ROUNDING * (2 * abs(least) + 4 * self._tables.reach + _FAR)
        near = np.flatnonzero(limits >= least - slack)
        near = near[np.argsort(limits[near], kind="stable")]
        steps = (self._trie.depth[nodes[near]] + _MORE_ROUNDINGS).astype(np.uint16)
        # Lists may be long: they are kept in small types.
        return self._ids[which[near]].astype(np.int32), limits[near].astype(np.float32), steps


_FAR = 100_000.0
"""Sums in float32 are not farther from zero than this, but for one step."""


def _compute(trie: Trie, rows: Longs, unknown: float) -> dict[str, npt.NDArray[np.generic]]:
    """The tables, level by level: the row of a node goes on from that of its parent."""
    total = int(trie.depth.sum(dtype=np.int64))
    endings = np.full(total, _NONE_YET, dtype=np.int32)
    sums = np.full(total, -inf, dtype=np.float64)
    leads = np.full(len(rows), -inf, dtype=np.float32)
    above = np.zeros((1, 0), dtype=np.int32)  # the nodes on the way to each node of a level
    for depth, (begin, end) in enumerate(trie.levels, start=1):
        nodes = np.arange(begin, end, dtype=np.int32)
        parents, codes = trie.parents[begin:end], trie.codes[begin:end]
        columns = np.arange(depth)
        own = endings[rows[begin] : rows[begin] + len(nodes) * depth].reshape(len(nodes), depth)
        if depth > 1:
            before = endings[rows[parents][:, None] + columns[: depth - 1]]
            found = trie.children(before.ravel(), np.repeat(codes, depth - 1))
            own[:, :-1] = np.where(before >= 0, found.reshape(before.shape), _NONE_YET)
        own[:, -1] = trie.children(np.zeros_like(codes), codes)
        begun = trie.levels[depth - 2][0] if depth > 1 else 0
        above = np.concatenate([above[parents - begun], parents[:, None]], axis=1)

        scores = np.where(own >= 0, trie.scores[own], -inf)
        last = scores[:, -1]
        last[last == -inf] = unknown
        best = sums[rows[begin] : rows[begin] + len(nodes) * depth].reshape(len(nodes), depth)
        for start in range(depth - 1, -1, -1):
            some = np.flatnonzero(scores[:, start] > -inf)
            if not len(some):
                continue
            score = scores[some, start]
            if start == 0:
                with np.errstate(invalid="ignore"):  # inf - inf, which no piece has
                    leads[begin + some] = score - best[some, 0]
            else:
                earlier = sums[rows[above[some, start]][:, None] + columns[:start]]
                best[some, :start] = np.maximum(best[some, :start], earlier + score[:, None])
            best[some, start] = np.maximum(best[some, start], score)
    finite, scores = sums[np.isfinite(sums)], trie.scores[np.isfinite(trie.scores)]
    reach = 2.0 * max(abs(finite).max(initial=0), abs(scores).max(initial=0))
    return {
        "endings": endings,
        "sums": sums.astype(np.float32),
        "leads": leads,
        "reach": np.array([reach]),
    }
