"""Masks that NumPy alone makes of exported tables are the masks."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consistency.test_packed_masks import bits_of, texts_of
from tests.support.random_bpe import (
    MODES,
    BpeWithTrees,
    byte_level,
    character_level,
    cuts_of,
    engine_of,
    few_characters,
    models,
    with_text,
)
from tests.support.sample_texts import PASSAGES
from tests.support.tokenizers import REAL, TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import ExportedTables, Verification, Verifier, packed_masks
from ticore.consistency import _exported_tables as exported_tables
from ticore.consistency._engines.bpe.merging_intervals import merging_intervals
from ticore.consistency._engines.bpe.pair_table import build_pair_table
from ticore.errors import InconsistentStateError, SettingsError

NAMES = ["hf-gpt2", "hf-cl100k-nfc", "hf-ignore-merges", "sp-bpe", "sp-bpe-nfkc", "sp-bpe-added"]


def masks_of(tables, rows):
    """bool[rows, vocab_size], from the arrays alone."""
    yes, if_unmerged = (
        bits_of(words, tables.vocab_size) for words in (tables.yes(), tables.if_unmerged())
    )
    found = []
    for row, (last, number) in enumerate(zip(rows.last_tokens, rows.tail_classes, strict=True)):
        change = np.zeros(tables.vocab_size + 1, dtype=int)
        intervals = slice(tables.offsets[last], tables.offsets[last + 1])
        np.add.at(change, tables.starts[intervals], 1)
        np.add.at(change, tables.ends[intervals], -1)
        merges = change.cumsum()[tables.places] > 0
        mask = yes[number] | (if_unmerged[number] & ~merges)
        exceptions = slice(*rows.exception_offsets[row : row + 2])
        mask[rows.exception_ids[exceptions]] = rows.exception_answers[exceptions]
        found.append(mask)
    return np.array(found)


def check(tables, texts):
    rows = tables.look_up(texts)
    assert np.array_equal(masks_of(tables, rows), [text.mask() for text in texts])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_masks_can_be_made_of_the_arrays(name, mode):
    verifier = Verifier(TRAINED[name](), mode=mode)
    if verifier.method != "table":
        pytest.skip(verifier.why)
    tables = verifier.export_tables()
    texts = texts_of(verifier, count=16)
    check(tables, texts)
    before = tables.class_count
    check(tables, texts)
    assert tables.class_count == before
    assert len(tables.yes(1)) == len(tables.if_unmerged(1)) == before - 1


@pytest.mark.parametrize("name", sorted(REAL))
def test_masks_of_real_tokenizers_can_be_made_of_the_arrays(name):
    verifier = Verifier(REAL[name]())
    try:
        tables = verifier.export_tables()
    except SettingsError as why:
        pytest.skip(str(why))
    draw, ids = random.Random(name), []
    for text in draw.sample(sorted(PASSAGES.values()), 3):
        ids += verifier.tokenizer.encode(text)[:15]
    texts = [text for n in range(0, len(ids), 3) if (text := verifier.start(ids[:n])).admissible]
    packed = packed_masks(texts)
    assert np.array_equal(
        masks_of(tables, tables.look_up(texts)), bits_of(packed, tables.vocab_size)
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(byte_level() | character_level()))
def test_masks_of_random_tokenizers_can_be_made_of_the_arrays(mode, case):
    model, text = case
    tokenizer = model.open()
    ids = [i for i in tokenizer.encode(text) if i not in tokenizer.special_ids][:6]
    with few_characters():
        engine, oracle = engine_of(tokenizer, mode)
        lists = [ids[:n] for n in range(len(ids) + 1)]
        texts = [Verification(engine, oracle, cuts_of(tokenizer), some) for some in lists]
        check(ExportedTables(engine), [text for text in texts if text.admissible])


@given(model=models, at_once=st.sampled_from([3, 2048]))
def test_merging_intervals_are_the_rows_of_the_table(model, at_once):
    bpe = BpeWithTrees(model)
    table, size = build_pair_table(bpe.rules, bpe.trees), len(bpe.spelled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ticore.consistency._engines.bpe.merging_intervals._AT_ONCE", at_once)
        offsets, starts, ends = merging_intervals(table)
    assert len(offsets) == size + 2
    assert (starts < ends).all()
    for left in range(size):
        merges = np.zeros(size, dtype=bool)
        spans = slice(offsets[left], offsets[left + 1])
        for start, end in zip(starts[spans], ends[spans], strict=True):
            assert not merges[start:end].any()
            merges[start:end] = True
        assert (starts[spans][1:] > ends[spans][:-1]).all()
        unmerged = ~merges[table.preorder] & table.reachable
        assert np.array_equal(unmerged, table.unmerged_after(left))
    assert (starts[offsets[-2] :].tolist(), ends[offsets[-2] :].tolist()) == ([0], [size])


def test_classes_beyond_the_limit_are_spelled_out(monkeypatch):
    monkeypatch.setattr(exported_tables, "_MOST_CLASSES", 2)
    verifier = Verifier(TRAINED["hf-gpt2"]())
    tables = verifier.export_tables()
    check(tables, texts_of(verifier, count=16))
    assert tables.class_count == 2


def test_classes_from_any_one_on_are_rows_also_where_there_are_none():
    verifier = Verifier(TRAINED["hf-gpt2"]())
    tables = verifier.export_tables()
    tables.look_up(texts_of(verifier, count=16))
    count, words = tables.yes().shape
    assert count == tables.class_count > 1
    for give in (tables.yes, tables.if_unmerged):
        for first in range(count + 1):
            assert give(first).shape == (count - first, words)
            assert np.array_equal(np.concatenate((give()[:first], give(first))), give())


def test_look_up_refuses_lists_of_other_verifiers_and_inconsistent_ones():
    verifier = Verifier(ToyTokenizer(["", "a", "b", "ab"]), method="retokenize")
    with pytest.raises(SettingsError, match="whose tables cannot be exported"):
        verifier.export_tables()
    gpt2 = Verifier(TRAINED["hf-gpt2"]())
    tables = gpt2.export_tables()
    with pytest.raises(SettingsError, match=r"row 1: .* found one of another; use that one's own"):
        tables.look_up([gpt2.start(), Verifier(gpt2.tokenizer, mode="open").start()])
    for row in (None, [1, 2]):
        with pytest.raises(SettingsError, match=r"row 1: .* found another object"):
            tables.look_up([gpt2.start(), row])
    spelled = map(gpt2.tokenizer.token_bytes, range(gpt2.tokenizer.vocab_size))
    word = next(data.decode() for data in spelled if len(data) == 2 and data.isalpha())
    text = gpt2.start([token for letter in word for token in gpt2.tokenizer.encode(letter)])
    assert not text.admissible
    with pytest.raises(InconsistentStateError):
        tables.look_up([text])
    assert tables.look_up([]).exception_offsets.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "settings"), [("sp-unigram", {}), ("hf-gpt2", {"channel": "spaces"})]
)
def test_tables_that_depend_on_the_text_are_not_exported(name, settings):
    with pytest.raises(SettingsError, match="not read from tables of last tokens; use packed_mas"):
        Verifier(TRAINED[name](), **settings).export_tables()
