"""Huffman's tree: short paths from the root to likely tokens, long ones to unlikely tokens.

Huffman joins the two lightest nodes into one until a single node is left. Here they are joined in
batches:

1. Let the two lightest nodes weigh m together. No node that is made later weighs less than m.
2. So the nodes lighter than m, in order and two by two, are the pairs that Huffman would join one
   after the other.
3. From batch to batch m grows at least as fast as Fibonacci's numbers. So weights that sum to 2^32
   need at most 45 batches for any pool, and each batch is a few operations on arrays.

Example: the first two of the weights 1 1 2 4 make m = 2. Only these two are lighter, so the first
batch joins 1 and 1. Then 2 and 2 make m = 4, and the second batch joins them.

Nodes of equal weight are in the order of their numbers, so both sides build the same tree. Leaves
are numbered as in the pool, and inner nodes from there on, as they are made.

Source: Huffman, "A Method for the Construction of Minimum-Redundancy Codes", Proc. IRE 1952.
"""

from __future__ import annotations

import numpy as np

from ..candidates import Ints
from ._base import Weights

# A node is kept as weight << 30 | number: one integer, ordered by weight and then by number.
_NUMBER_BITS = 30
_NUMBER = (1 << _NUMBER_BITS) - 1


class HuffmanTree:
    """The Huffman tree of a pool of n tokens.

    Attributes:
        root: the number of the root; 0 to n - 1 are the leaves.
        weights: int64[2n - 1], the weight of each node.

    >>> tree = HuffmanTree(np.array([4, 2, 1, 1]))
    >>> tree.lengths().tolist()
    [1, 2, 3, 3]
    >>> tree.children(tree.root)
    (0, 5)
    """

    def __init__(self, weights: Weights) -> None:
        leaves = self._leaves = len(weights)
        self.root = 2 * leaves - 2
        self.weights: Ints = np.empty(self.root + 1, dtype=np.int64)
        self.weights[:leaves] = weights
        # Nodes before `at` are joined, two by two; the others wait, in order.
        row = np.empty(self.root + 1, dtype=np.int64)
        row[:leaves] = np.sort(weights << _NUMBER_BITS | np.arange(leaves))
        at, end = 0, leaves
        while at < self.root:
            waiting = row[at:end]
            m = (waiting[0] >> _NUMBER_BITS) + (waiting[1] >> _NUMBER_BITS)
            light = int(waiting.searchsorted(m << _NUMBER_BITS)) // 2 * 2
            pairs = (waiting[:light] >> _NUMBER_BITS).reshape(-1, 2)
            stop = end + light // 2
            self.weights[end:stop] = pairs[:, 0] + pairs[:, 1]
            row[end:stop] = self.weights[end:stop] << _NUMBER_BITS | np.arange(end, stop)
            at, end = at + light, stop
            row[at:end].sort(kind="stable")  # two ordered runs, which it merges in one pass
        self._children: Ints = (row[:-1] & _NUMBER).reshape(-1, 2)  # row i: of node n + i

    def children(self, node: int) -> tuple[int, int]:
        """The children of an inner node."""
        first, second = self._children[node - self._leaves].tolist()
        return first, second

    def path(self, leaf: int) -> list[tuple[int, int]]:
        """The inner nodes from the root to `leaf`, each with the child to go on to, 0 or 1."""
        place = np.empty(self.root, dtype=np.int64)
        place[self._children.ravel()] = np.arange(self.root)
        node, path = leaf, []
        while node != self.root:
            above, child = divmod(int(place[node]), 2)
            node = self._leaves + above
            path.append((node, child))
        return path[::-1]

    def lengths(self) -> Ints:
        """int64[n], how many nodes are above each leaf."""
        lengths = np.empty(self._leaves, dtype=np.int64)
        level, depth = np.array([self.root]), 0
        while len(level):
            leaf = level < self._leaves
            lengths[level[leaf]] = depth
            level, depth = self._children[level[~leaf] - self._leaves].ravel(), depth + 1
        return lengths
