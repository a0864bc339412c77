"""The pair test for one pair, against runs of BPE."""

from itertools import pairwise

import pytest
from hypothesis import example, given

from tests.support.random_bpe import Bpe, BpeWithTrees, models
from ticore.consistency._engines.bpe.pair_test import PairTest


def pair_test_of(bpe):
    """A pair test that knows all merge trees."""
    test = PairTest(bpe.rules, len(bpe.spelled))
    for name in ("left_part", "right_part", "made_at", "left_deadline", "right_deadline"):
        setattr(test, name, getattr(bpe.trees, name).tolist())
    return test


@given(model=models)
@example(model=Bpe(rules=((b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
@example(model=Bpe(ranks=((b"ab", 0), (b"ba", 0)), pattern="gpt2"))
@example(model=Bpe(rules=((b"ab", b"ab"), (b"b", b"a"), (b"a", b"b")), pattern="gpt2"))
def test_pair_test_is_what_bpe_does_with_every_pair(model):
    bpe = BpeWithTrees(model)
    test = pair_test_of(bpe)
    for left in bpe.reachable:
        for right in bpe.reachable:
            expected = not bpe.stay_unmerged(left, right)
            assert test.merge(left, right) == expected, bpe.named(left, right)


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
    assert pair_test_of(bpe).merge(*ids) is merge
    assert bpe.stay_unmerged(*ids) is not merge


@pytest.mark.slow
@given(model=models)
def test_a_list_is_canonical_iff_no_two_neighbours_merge(model):
    """The theorem itself, on all lists of three tokens of a few."""
    bpe = BpeWithTrees(model)
    test = pair_test_of(bpe)
    some = [*bpe.reachable[:3], *bpe.reachable[-3:]]
    for ids in ([a, b, c] for a in some for b in some for c in some):
        merged = any(test.merge(a, b) for a, b in pairwise(ids))
        text = b"".join(bpe.named(*ids))
        assert (bpe.tokenizer.merge(text) == ids) is not merged, bpe.named(*ids)
