"""Huffman's tree: the one that joining node by node makes, optimal, the same for everyone."""

import heapq

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.codec_runs import zipf_pools
from tests.support.weight_tables import tables
from ticore.codecs._tree import HuffmanTree

ties = st.lists(st.integers(1, 4), min_size=1, max_size=60).map(np.array)
pools = tables(max_tokens=60) | ties


def fibonacci(count):
    """The pool whose tree is deepest, and that joins one pair at a time."""
    numbers = [1, 1]
    while len(numbers) < count:
        numbers.append(numbers[-1] + numbers[-2])
    return np.array(numbers)


def joined_one_by_one(weights):
    """Children and weights of the inner nodes, as they are made."""
    heap = [(int(weight), number) for number, weight in enumerate(weights)]
    heapq.heapify(heap)
    children, made = [], []
    while len(heap) > 1:
        (first, a), (second, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (first + second, len(weights) + len(made)))
        children.append((a, b))
        made.append(first + second)
    return children, made


@given(weights=pools)
@example(weights=fibonacci(45))
@example(weights=zipf_pools(5000)[0])
@example(weights=np.ones(4096, dtype=np.int64))
def test_tree_is_the_one_that_single_joins_make(weights):
    tree, count = HuffmanTree(weights), len(weights)
    children, made = joined_one_by_one(weights)
    assert tree.root == 2 * count - 2
    assert [tree.children(node) for node in range(count, tree.root + 1)] == children
    assert tree.weights.tolist() == [*weights, *made]


@given(weights=pools)
@example(weights=fibonacci(45))
def test_lengths_are_optimal_and_fill_the_tree(weights):
    """Any shorter code would not be one: Kraft's sum is 1, and no tree weighs less."""
    lengths = HuffmanTree(weights).lengths()
    deepest = int(lengths.max())
    assert sum(1 << deepest - int(length) for length in lengths) == 1 << deepest
    assert int((weights * lengths).sum()) == sum(joined_one_by_one(weights)[1])


@given(weights=pools)
def test_path_leads_to_its_leaf(weights):
    tree = HuffmanTree(weights)
    for leaf, length in enumerate(tree.lengths()):
        path, node = tree.path(leaf), tree.root
        for inner, child in path:
            assert inner == node
            node = tree.children(node)[child]
        assert node == leaf
        assert len(path) == length


def test_tree_is_that_of_former_versions():
    """Old texts stay readable: ties go to the lower number, leaves before inner nodes."""
    tree = HuffmanTree(np.array([2, 1, 1, 2, 2]))
    children = [tree.children(node) for node in range(5, 9)]
    assert children == [(1, 2), (0, 3), (4, 5), (6, 7)]
