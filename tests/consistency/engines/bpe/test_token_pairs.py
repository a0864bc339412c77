"""The tables of a vocabulary, their way to the disk and back, and the cached pair test."""

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.random_bpe import Bpe, BpeWithTrees, byte_level, models
from ticore._support.packed_bits import pack
from ticore.consistency._engines.bpe import token_pairs
from ticore.consistency._engines.bpe.pair_table import PairTable, build_pair_table
from ticore.consistency._engines.bpe.token_pairs import (
    BpeTables,
    ChangedWords,
    TokenPairs,
    build_tables,
)
from ticore.consistency._modes import beginnings

# Merging gives neither "abc" nor "cab", but both are parts of their own if merges are ignored.
WHOLE_PARTS = Bpe(
    rules=((b"a", b"b"), (b"b", b"c")), more=(b"abc", b"cab"), ignore_merges=True, pattern="gpt2"
)


def built(model):
    bpe = BpeWithTrees(model)
    tables = build_tables(bpe.structure, bpe.spelled)
    return bpe, tables, TokenPairs(tables, bpe.spelled)


@pytest.mark.slow
@given(model=models)
@example(model=WHOLE_PARTS)
def test_bpe_tables_are_the_same_after_they_were_stored(model):
    bpe, tables, _ = built(model)
    file = io.BytesIO()
    np.savez(file, **tables.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = BpeTables.from_arrays(dict(arrays), bpe.spelled)
    assert again.replaced == tables.replaced
    assert np.array_equal(again.whole_part_only, tables.whole_part_only)
    assert list(again.unmerged_before) == list(tables.unmerged_before)
    names = [field.name for field in fields(PairTable)]
    for found, array in [
        *((getattr(again.pairs, name), getattr(tables.pairs, name)) for name in names),
        *((again.unmerged_before[token], array) for token, array in tables.unmerged_before.items()),
    ]:
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)


def test_bpe_tables_have_the_names_of_earlier_cached_files():
    """A cached file is read as long as its arrays have these names."""
    _, tables, _ = built(WHOLE_PARTS)
    assert sorted(tables.to_arrays()) == sorted(
        [
            *("alone", "replaced", "followers", "before"),
            *("rows_place", "rows_first", "rows_rank", "rows_starts_at", "rows_own", "rows_begin"),
            *("rows_end", "rows_left", "rows_right", "rows_clock", "rows_right_peak"),
            "rows_reachable",
        ]
    )


def test_bpe_tables_are_refused_when_they_are_those_of_another_vocabulary():
    bpe, tables, _ = built(WHOLE_PARTS)
    with pytest.raises(ValueError, match="do not fit together"):
        BpeTables.from_arrays(tables.to_arrays(), [*bpe.spelled, b"more"])


@pytest.mark.slow
@given(model=models)
def test_token_pairs_give_the_same_for_a_row_and_for_each_pair(model):
    bpe, _, pairs = built(model)
    table = build_pair_table(bpe.rules, bpe.trees)
    for left in bpe.reachable:
        one_by_one = [pairs.do_not_merge(left, right) for right in bpe.reachable]
        row = pairs.unmerged_after(left)
        assert np.array_equal(row, table.unmerged_after(left))
        assert one_by_one == row[bpe.reachable].tolist()
        # Now from the cached row.
        assert [pairs.do_not_merge(left, right) for right in bpe.reachable] == one_by_one


@given(model=models, most=st.integers(0, 100))
def test_row_is_kept_as_its_words_or_as_those_that_are_not_those_of_reachable(model, most):
    bpe, tables, _ = built(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_pairs, "_MOST_CHANGED", most)
        pairs = TokenPairs(tables, bpe.spelled)
        for left in range(len(bpe.spelled)):
            expected = pack(tables.pairs.unmerged_after(left))
            assert not pairs.is_cached(left)
            row = pairs.unmerged_words_after(left)
            if isinstance(row, ChangedWords):
                assert len(row.at) <= most
                words = pack(bpe.trees.reachable)
                words[row.at] = row.words
                row = words
            assert row.tolist() == expected.tolist()
            assert pairs.is_cached(left)
            assert pairs.packed_unmerged_after(left).tolist() == expected.tolist()


@given(model=models, most=st.integers(0, 100), known=st.sets(st.integers(0, 50), max_size=3))
def test_rows_that_are_made_together_are_those_made_one_by_one(model, most, known):
    bpe, tables, pairs = built(model)
    lefts = range(len(bpe.spelled))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_pairs, "_MOST_CHANGED", most)
        patch.setattr(token_pairs, "_FEW", 1)
        for left in known.intersection(lefts):
            pairs.unmerged_words_after(left)
        found = pairs.unmerged_words_after_each([*lefts, *lefts])
        one_by_one = TokenPairs(tables, bpe.spelled)
        assert sorted(found) == list(lefts)
        for left in lefts:
            expected = one_by_one.unmerged_words_after(left)
            assert isinstance(found[left], ChangedWords) == isinstance(expected, ChangedWords)
            assert all(map(np.array_equal, found[left], expected))
            assert pairs.is_cached(left)
            assert pairs.unmerged_after(left).tolist() == tables.pairs.unmerged_after(left).tolist()


@given(model=models)
def test_build_tables_makes_a_column_for_each_token_that_a_text_may_go_on_with(model):
    bpe, tables, pairs = built(model)
    firsts = {pairs.segment(text.encode())[:1] for text in beginnings()} - {()}
    assert {(token,) for token in tables.unmerged_before} == firsts
    for right, column in tables.unmerged_before.items():
        for left in bpe.reachable:
            assert column[left] == bpe.stay_unmerged(left, right)


@pytest.mark.slow
@given(model=byte_level(), data=st.data())
def test_segment_is_what_merging_gives(model, data):
    bpe, _, pairs = built(model)
    words = st.sampled_from([bpe.spelled[i] for i in bpe.pieces])
    text = b"".join(data.draw(st.lists(words, min_size=1, max_size=3)))
    assert list(pairs.segment(text)) == bpe.tokenizer.merge(text)


def test_segment_is_empty_when_some_byte_has_no_token():
    _, _, pairs = built(Bpe(more=(b"a",)))
    assert pairs.segment(b"a ") != ()
    assert pairs.segment(b"ab") == ()
    assert pairs.segment(b"") == ()


@pytest.mark.slow
@given(model=byte_level())
@example(model=WHOLE_PARTS)
def test_build_tables_finds_whole_parts_and_what_merging_gives_in_their_place(model):
    bpe, tables, _ = built(model)
    pieces = np.flatnonzero(bpe.structure.pieces).tolist()
    again = {piece: tuple(bpe.tokenizer.merge(bpe.spelled[piece])) for piece in pieces}
    whole = {piece for piece in pieces if again[piece] != (piece,) and model.ignore_merges}
    assert set(np.flatnonzero(tables.whole_part_only).tolist()) == whole
    assert tables.replaced == {again[piece] for piece in whole}


def test_build_tables_finds_the_replaced_lists_of_two_whole_parts():
    bpe, tables, _ = built(WHOLE_PARTS)
    assert {bpe.named(*tokens) for tokens in tables.replaced} == {
        (b"ab", b"c"),
        (b"c", b"ab"),
    }


@pytest.mark.parametrize("model", [Bpe(pattern="gpt2"), Bpe()])
def test_build_tables_replaces_nothing_when_there_are_no_whole_parts(model):
    _, tables, _ = built(model)
    assert tables.replaced == frozenset()
    assert not tables.whole_part_only.any()
