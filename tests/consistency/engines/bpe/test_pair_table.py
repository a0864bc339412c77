"""Rows, columns and pairs of the table of the pair test, against BPE on every pair."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given

from tests.support.random_bpe import Bpe, BpeWithTrees, models
from ticore.consistency._engines.bpe.pair_table import build_pair_table

# Rules with a lower rank than the rules that make their sides.
BACKWARDS = Bpe(
    rules=((b"ab", b"ab"), (b"ab", b"c"), (b"b", b"a"), (b"a", b"b"), (b"ba", b"b"), (b"b", b"b")),
    pattern="gpt2",
)


@pytest.mark.slow
@given(model=models)
@example(model=BACKWARDS)
@example(model=Bpe(ranks=((b"ab", 0), (b"ba", 0), (b"abab", 0)), pattern="gpt2"))
def test_unmerged_after_and_do_not_merge_are_what_bpe_does_with_every_pair(model):
    bpe = BpeWithTrees(model)
    table = build_pair_table(bpe.rules, bpe.trees)
    for left in bpe.reachable:
        row = table.unmerged_after(left)
        for right in bpe.reachable:
            assert row[right] == bpe.stay_unmerged(left, right), bpe.named(left, right)
            assert table.do_not_merge(left, right) == row[right], bpe.named(left, right)


@pytest.mark.slow
@given(model=models)
@example(model=BACKWARDS)
def test_unmerged_before_is_what_bpe_does_with_every_pair(model):
    bpe = BpeWithTrees(model)
    columns = build_pair_table(bpe.rules, bpe.trees).unmerged_before(bpe.reachable)
    for right, column in zip(bpe.reachable, columns, strict=True):
        for left in bpe.reachable:
            assert column[left] == bpe.stay_unmerged(left, right), bpe.named(left, right)


@pytest.mark.slow
@given(model=models)
def test_pair_table_has_no_pairs_of_tokens_that_bpe_does_not_give(model):
    bpe = BpeWithTrees(model)
    table = build_pair_table(bpe.rules, bpe.trees)
    unreachable = np.flatnonzero(~bpe.trees.reachable)
    for token in unreachable.tolist()[:3]:
        assert not table.unmerged_after(token).any()
        assert not any(table.do_not_merge(token, other) for other in range(len(table.preorder)))
        assert not table.unmerged_before([token])[0].any()
    for token in bpe.reachable[:3]:
        assert not table.unmerged_after(token)[unreachable].any()
        assert not table.unmerged_before([token])[0][unreachable].any()


def test_pair_table_forbids_nothing_when_there_are_no_rules():
    bpe = BpeWithTrees(Bpe(pattern="gpt2"))
    table = build_pair_table(bpe.rules, bpe.trees)
    for left in bpe.reachable:
        assert table.unmerged_after(left).tolist() == bpe.trees.reachable.tolist()


def test_pair_table_numbers_the_tokens_of_the_example_of_its_docstring_in_preorder():
    bpe = BpeWithTrees(Bpe(ranks=((b"ab", 0), (b"abc", 1), (b"ad", 2)), pattern="gpt2"))
    table = build_pair_table(bpe.rules, bpe.trees)
    numbers = table.preorder[[bpe.id_of(text) for text in (b"a", b"ab", b"abc", b"ad")]]
    assert (numbers - numbers[0]).tolist() == [0, 1, 2, 3]


def test_check_refuses_arrays_with_an_index_that_leads_outside():
    bpe = BpeWithTrees(BACKWARDS)
    table = build_pair_table(bpe.rules, bpe.trees)
    table.check(bpe.spelled)
    for name in ("preorder", "first_rule", "whole", "begin", "end", "left_part", "right_part"):
        broken = getattr(table, name).copy()
        broken[-1] = len(bpe.spelled) + len(table.rank) + 1
        with pytest.raises(ValueError, match="do not fit together"):
            replace(table, **{name: broken}).check(bpe.spelled)


def test_check_refuses_parts_when_a_walk_from_part_to_part_would_not_end():
    bpe = BpeWithTrees(BACKWARDS)
    table = build_pair_table(bpe.rules, bpe.trees)
    looped = table.right_part.copy()
    looped[bpe.id_of(b"ab")] = bpe.id_of(b"ab")
    with pytest.raises(ValueError, match="do not fit together"):
        replace(table, right_part=looped).check(bpe.spelled)
