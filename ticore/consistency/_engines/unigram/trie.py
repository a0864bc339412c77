"""The texts that compete in a segmentation, character by character.

Every beginning of a text is a node. Nodes are numbered by depth, so a level of the tree is a range
of numbers; within a level they stand in the order of their texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

CODE_BITS = 21
"""They hold every code point."""


class Trie:
    """Texts with scores. Thread-safe, since it never changes.

    Args:
        parents: int32[nodes], the node of each text without its last character; 0 for the root.
        codes: int32[nodes], the code point of that character; 0 for the root.
        scores: float64[nodes], -inf where a node is only the beginning of a text.

    Attributes:
        parents, codes, scores: as given.
        depth: int32[nodes], how many characters each node has.
        levels: (first node, last node + 1) of each level from the first on.
    """

    def __init__(self, parents: Ints, codes: Ints, scores: Floats) -> None:
        self.parents, self.codes, self.scores = parents, codes, scores
        # Ascending, since the parents of a level are numbered before those of the next one.
        self._keys = parents[1:].astype(np.int64) << CODE_BITS | codes[1:]
        if len(self._keys) > 1 and not (np.diff(self._keys) > 0).all():
            raise ValueError("the nodes are not in order")
        ends, end = [1], 1
        while end < len(parents):
            # The next level holds the children of this one.
            end = 1 + int(np.searchsorted(parents[1:], end, side="left"))
            ends.append(end)
        self.levels = list(pairwise(ends))
        self.depth: Ints = np.zeros(len(parents), dtype=np.int32)
        for depth, (begin, end) in enumerate(self.levels, start=1):
            self.depth[begin:end] = depth

    def children(self, nodes: Ints, codes: Ints) -> Ints:
        """The node of each text followed by a character; -1 if there is none: int32[n]."""
        wanted = nodes.astype(np.int64) << CODE_BITS | codes
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[places] == wanted, places + 1, -1).astype(np.int32)

    def steps(self) -> dict[int, int]:
        """The child of each node for each character, by `step_key`."""
        return dict(zip(self._keys.tolist(), range(1, len(self.parents)), strict=True))

    def preorder(self) -> tuple[Longs, Longs]:
        """The place of each node in the order of texts, and how many nodes its subtree has.

        The texts that begin with that of a node are those from its place on: int64[nodes] each.
        """
        sizes = np.ones(len(self.parents), dtype=np.int64)
        for begin, end in reversed(self.levels):
            np.add.at(sizes, self.parents[begin:end], sizes[begin:end])
        places = np.zeros(len(self.parents), dtype=np.int64)
        for begin, end in self.levels:
            parents, own = self.parents[begin:end], sizes[begin:end]
            before = np.cumsum(own) - own
            eldest = np.searchsorted(parents, parents)
            places[begin:end] = places[parents] + 1 + before - before[eldest]
        return places, sizes


def step_key(node: int, character: str) -> int:
    """The key of a character after a node, in `Trie.steps`."""
    return node << CODE_BITS | ord(character)


def build_trie(texts: Mapping[str, float]) -> tuple[Trie, Ints]:
    """The trie of some texts and their scores.

    Args:
        texts: at least one, none empty.

    Returns:
        The trie, and the node of each text: int32[len(texts)].
    """
    order = sorted(range(len(texts)), key=list(texts).__getitem__)
    names, values = list(texts), np.array(list(texts.values()), dtype=np.float64)
    lengths = np.array([len(names[n]) for n in order], dtype=np.int64)
    flat = np.frombuffer("".join(names[n] for n in order).encode("utf-32-le"), dtype="<u4")
    begins = np.cumsum(lengths) - lengths
    parents, codes = [np.zeros(1, dtype=np.int32)], [np.zeros(1, dtype=np.int32)]
    reached = np.zeros(len(order), dtype=np.int32)  # the node of each text so far
    longer, depth, count = np.arange(len(order)), 0, 1
    while len(longer):
        parent, code = reached[longer], flat[begins[longer] + depth].astype(np.int32)
        new = np.ones(len(longer), dtype=bool)
        new[1:] = (parent[1:] != parent[:-1]) | (code[1:] != code[:-1])
        parents.append(parent[new])
        codes.append(code[new])
        reached[longer] = count + np.cumsum(new) - 1
        count += int(new.sum())
        depth += 1
        longer = longer[lengths[longer] > depth]
    nodes = np.empty(len(order), dtype=np.int32)
    nodes[order] = reached
    scores = np.full(count, -inf)
    scores[nodes] = values
    return Trie(np.concatenate(parents), np.concatenate(codes), scores), nodes
