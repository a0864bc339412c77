"""The best segmentations of a text followed by each piece of a vocabulary, all at once.

Pieces with the same beginning share the segmentations of that beginning. So the trie is walked
depth by depth, each node once. The last piece of a segmentation that ends at a node starts at one
of three places. In the examples the text ends in "t", and the node stands for "he":

1. before the end of the text: a piece that has begun there, such as "the";
2. at the end of the text: the text of the node itself, "he";
3. after the end of the text: a suffix of the text of the node, such as "e".
"""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np

from .viterbi import RESET, RESET_BEYOND, Bools, Floats, Ints, Trie, ViterbiState


class _Grouped:
    """Rows (node, score), grouped by another node.

    Attributes:
        first: int[groups + 1]; the rows of group g are first[g] to first[g + 1].
        nodes, scores: int32[rows], float32[rows].
    """

    def __init__(self, groups: Ints, nodes: Ints, scores: Floats, size: int) -> None:
        order = np.argsort(groups, kind="stable")
        self.first = np.searchsorted(groups[order], np.arange(size + 1))
        self.nodes = nodes[order]
        self.scores = scores[order]


class Lattice:
    """Two tables over the nodes of a trie. Thread-safe.

    Both come from the same triples: the text of a node v is that of u followed by that of w, such
    as v = "the", u = "t", w = "he".

    - Case 3: if w is a piece, it may follow the best segmentation that ends at u.
    - Case 1: if v is a piece, it may have begun with u before the end of the text. Then it ends
      where w does.
    """

    def __init__(self, trie: Trie) -> None:
        size = len(trie.depth)
        v, u, w = _splits(trie)
        begun = trie.scores[v] > -inf
        self._crossing = _Grouped(u[begun], w[begun], trie.scores[v[begun]], size)

        known = np.array([trie.knows(character) for character in trie.characters])
        not_pieces = np.flatnonzero(~known & (trie.depth > 1)).astype(np.int32)
        piece = trie.scores[w] > -inf
        # So every node below the first level has a row: at least that of its last character.
        self._inside = _Grouped(
            np.concatenate([v[piece], not_pieces]),
            np.concatenate([u[piece], trie.parent[not_pieces]]),
            np.concatenate([trie.scores[w[piece]], np.full(len(not_pieces), trie.unknown)]),
            size,
        )
        self._scores, self._parents = trie.scores, trie.parent
        self._unknown = np.where(known | (trie.depth != 1), np.float32(-inf), trie.unknown)
        levels = np.searchsorted(trie.depth, np.arange(2, trie.depth[-1] + 2))
        self._levels = list(pairwise(levels.tolist()))

    def ends_whole(self, state: ViterbiState) -> tuple[Bools, Bools]:
        """Whether the best segmentation of the text and a piece ends in that piece.

        Returns:
            bool[nodes], the answers, False where a node is not a piece; and bool[nodes], the pieces
            for which they do not hold, because the sum is reset inside these.
        """
        crossing = np.full(len(self._scores), -inf, dtype=np.float32)
        rows = self._crossing
        for _, node, score in state.open_pieces:
            if node == RESET:
                crossing -= np.float32(score)
                continue
            group = slice(rows.first[node], rows.first[node + 1])
            nodes = rows.nodes[group]  # all different, as the node they follow is the same
            sums = rows.scores[group] + np.float32(score)
            crossing[nodes] = np.maximum(crossing[nodes], sums)
        here = np.float32(state.best_score)
        if abs(here) > RESET_BEYOND:
            crossing -= here
            here = np.float32(0)
        own = self._scores + here
        # Of equal scores the earliest start wins: case 1, then 2, then 3.
        whole = own > crossing
        best = np.maximum(np.maximum(own, crossing), self._unknown + here)
        rows = self._inside
        for begin, end in self._levels:
            first = rows.first[begin:end]
            group = slice(first[0], rows.first[end])
            inside = np.maximum.reduceat(
                best[rows.nodes[group]] + rows.scores[group], first - first[0]
            )
            whole[begin:end] &= own[begin:end] >= inside
            np.maximum(best[begin:end], inside, out=best[begin:end])
        return whole, self._below(abs(best) > RESET_BEYOND)

    def _below(self, marked: Bools) -> Bools:
        """bool[nodes]: the nodes below those that are marked, but for the root."""
        below = np.zeros_like(marked)
        marked[0] = False
        if marked.any():
            for begin, end in self._levels:
                parents = self._parents[begin:end]
                below[begin:end] = below[parents] | marked[parents]
        return below


def _splits(trie: Trie) -> tuple[Ints, Ints, Ints]:
    """All v, u, w but the root where the text of v is that of u followed by w: int32[n] each."""
    suffixes = _longest_suffixes(trie)
    v, w = np.arange(len(suffixes), dtype=np.int32), suffixes
    found_v, found_w = [v[:0]], [w[:0]]
    while len(v := v[w > 0]):
        w = w[w > 0]
        found_v.append(v)
        found_w.append(w)
        w = suffixes[w]
    v, w = np.concatenate(found_v), np.concatenate(found_w)
    u, length = v.copy(), trie.depth[v] - trie.depth[w]
    while len(longer := np.flatnonzero(trie.depth[u] > length)):
        u[longer] = trie.parent[u[longer]]
    return v, u, w


def _longest_suffixes(trie: Trie) -> Ints:
    """int32[nodes]: for each node, that of the longest proper suffix of its text; 0 if none."""
    suffixes = [0] * len(trie.characters)
    for node, parent in enumerate(trie.parent.tolist()):
        if parent:
            character, suffix = trie.characters[node], suffixes[parent]
            while not (below := trie.child(suffix, character)) and suffix:
                suffix = suffixes[suffix]
            suffixes[node] = below
    return np.array(suffixes, dtype=np.int32)
