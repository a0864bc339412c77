"""A vocabulary's tables, and their way to the disk and back."""

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import Bpe, Learned, byte_level, models
from ticore.consistency.bpe.rows import Rows, rows
from ticore.consistency.bpe.vocabulary import Tables, Vocabulary, build
from ticore.consistency.modes import beginnings

# "abc" is no token that merging gives, nor is "cab", but both stay whole if merging is ignored.
HIDDEN = Bpe(
    rules=((b"a", b"b"), (b"b", b"c")), more=(b"abc", b"cab"), ignore_merges=True, pattern="gpt2"
)


def opened(model):
    learned = Learned(model)
    tables = build(learned.structure, learned.spelled)
    return learned, tables, Vocabulary(tables, learned.spelled)


@given(model=models)
@example(model=HIDDEN)
def test_tables_come_back_as_they_were(model):
    learned, tables, _ = opened(model)
    file = io.BytesIO()
    np.savez(file, **tables.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = Tables.from_arrays(dict(arrays), learned.spelled)
    assert again.replaced == tables.replaced
    assert np.array_equal(again.alone, tables.alone)
    assert list(again.before) == list(tables.before)
    names = [field.name for field in fields(Rows)]
    for found, array in [
        *((getattr(again.rows, name), getattr(tables.rows, name)) for name in names),
        *((again.before[token], array) for token, array in tables.before.items()),
    ]:
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)


@given(model=models)
def test_rows_and_single_pairs_say_the_same(model):
    learned, _, vocabulary = opened(model)
    table = rows(learned.rules, learned.runs)
    for left in learned.reachable:
        row = vocabulary.row(left)
        assert np.array_equal(row, table.row(left))
        for right in learned.reachable:
            assert vocabulary.apart(left, right) == row[right]


@given(model=models)
def test_what_a_text_may_go_on_with_has_its_column(model):
    learned, tables, vocabulary = opened(model)
    firsts = {vocabulary.segment(text.encode())[:1] for text in beginnings()} - {()}
    assert {(token,) for token in tables.before} == firsts
    for right, column in tables.before.items():
        for left in learned.reachable:
            assert column[left] == learned.stay_apart(left, right)


@given(model=byte_level(), data=st.data())
def test_segments_are_what_merging_gives(model, data):
    learned, _, vocabulary = opened(model)
    words = st.sampled_from([learned.spelled[i] for i in learned.pieces])
    text = b"".join(data.draw(st.lists(words, min_size=1, max_size=3)))
    assert list(vocabulary.segment(text)) == learned.tokenizer.merge(text)


def test_bytes_of_which_there_is_no_token_have_no_segments():
    _, _, vocabulary = opened(Bpe(more=(b"a",)))
    assert vocabulary.segment(b"a ") != ()
    assert vocabulary.segment(b"ab") == ()
    assert vocabulary.segment(b"") == ()


@given(model=byte_level())
@example(model=HIDDEN)
def test_hidden_tokens_and_what_merging_gives_in_their_place(model):
    learned, tables, _ = opened(model)
    pieces = np.flatnonzero(learned.structure.pieces).tolist()
    again = {piece: tuple(learned.tokenizer.merge(learned.spelled[piece])) for piece in pieces}
    hidden = {piece for piece in pieces if again[piece] != (piece,) and model.ignore_merges}
    assert set(np.flatnonzero(tables.alone).tolist()) == hidden
    assert tables.replaced == {again[piece] for piece in hidden}


def test_replaced_by_hand():
    learned, tables, _ = opened(HIDDEN)
    assert {learned.named(*tokens) for tokens in tables.replaced} == {
        (b"ab", b"c"),
        (b"c", b"ab"),
    }


@pytest.mark.parametrize("model", [Bpe(pattern="gpt2"), Bpe()])
def test_without_hidden_tokens_nothing_is_replaced(model):
    _, tables, _ = opened(model)
    assert tables.replaced == frozenset()
    assert not tables.alone.any()
