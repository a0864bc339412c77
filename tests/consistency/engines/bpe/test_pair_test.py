"""The pair test for one pair, against runs of BPE."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given

from tests.support.random_bpe import Bpe, BpeWithTrees, models
from ticore.consistency._engines.bpe.pair_test import PairTest


def pair_test_of(bpe):
    """A pair test that knows all merge trees."""
    test = PairTest(bpe.rules, len(bpe.spelled))
    for name in ("left_part", "right_part", "made_at", "left_deadline", "right_deadline"):
        setattr(test, name, getattr(bpe.trees, name))
    return test


def merge_each(test, pairs, **settings):
    """Whether each pair of ids merges."""
    ids = np.array(list(pairs), dtype=np.int32).reshape(-1, 2)
    return test.merge(ids[:, 0], ids[:, 1], **settings).tolist()


@given(model=models)
@example(model=Bpe(rules=((b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(ranks=((b"ab", 0), (b"ba", 0)), pattern="gpt2"))
@example(model=Bpe(rules=((b"ab", b"ab"), (b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
def test_pair_test_is_what_bpe_does_with_every_pair(model):
    bpe = BpeWithTrees(model)
    test = pair_test_of(bpe)
    pairs = list(product(bpe.reachable, repeat=2))
    for pair, found in zip(pairs, merge_each(test, pairs), strict=True):
        assert found == (not bpe.stay_unmerged(*pair)), bpe.named(*pair)


@given(model=models)
def test_pair_test_leaves_the_rule_of_the_two_tokens_out_when_it_does_not_count(model):
    """Then two tokens merge iff they do so before this rule has its turn."""
    bpe = BpeWithTrees(model)
    test = pair_test_of(bpe)
    parts = [(bpe.trees.left_part[i], bpe.trees.right_part[i]) for i in bpe.reachable]
    parts = [pair for pair in parts if pair[0] >= 0]
    assert all(merge_each(test, parts))
    assert not any(merge_each(test, parts, whole=False))


@pytest.mark.parametrize(
    ("made_of", "left", "right", "merge"),
    [
        # The examples of the module's docstring, in its order.
        ({"rules": ((b"a", b"b"), (b"b", b"c"), (b"ab", b"c"))}, b"ab", b"c", True),
        ({"rules": ((b"b", b"c"), (b"a", b"b"))}, b"ab", b"c", True),
        ({"rules": ((b"a", b"b"), (b"b", b"c"))}, b"ab", b"c", False),
        ({"ranks": ((b"ab", 0), (b"bc", 0))}, b"ab", b"c", False),
        ({"ranks": ((b"ab", 0), (b"bc", 0))}, b"a", b"bc", True),
        ({"rules": ((b"ab", b"c"), (b"c", b"d"), (b"a", b"b"))}, b"ab", b"cd", False),
        ({"rules": ((b"b", b"cd"), (b"a", b"b"), (b"c", b"d"))}, b"ab", b"cd", False),
    ],
)
def test_pair_test_decides_the_examples_of_its_docstring(made_of, left, right, merge):
    bpe = BpeWithTrees(Bpe(pattern="gpt2", **made_of))
    ids = bpe.id_of(left), bpe.id_of(right)
    assert merge_each(pair_test_of(bpe), [ids]) == [merge]
    assert bpe.stay_unmerged(*ids) is not merge


@pytest.mark.slow
@given(model=models)
def test_a_list_is_canonical_iff_no_two_neighbours_merge(model):
    """The theorem itself, on all lists of three tokens of a few."""
    bpe = BpeWithTrees(model)
    test = pair_test_of(bpe)
    some = [*bpe.reachable[:3], *bpe.reachable[-3:]]
    for ids in ([a, b, c] for a in some for b in some for c in some):
        merged = any(merge_each(test, pairwise(ids)))
        text = b"".join(bpe.named(*ids))
        assert (bpe.tokenizer.merge(text) == ids) is not merged, bpe.named(*ids)
