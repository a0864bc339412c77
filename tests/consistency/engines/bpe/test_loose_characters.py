"""Characters that occur in pieces only, in models that SentencePiece itself runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import MODES, few_characters
from tests.support.random_sentencepiece import OddBpe, odd_bpe, texts_of_odd_bpe
from tests.support.real_walks import check_library_walk, differences, table_of
from tests.support.reference_encoder import ReferenceEncoder, comparable
from tests.support.tokenizers import _open_sentencepiece as real
from ticore import Verifier
from ticore.consistency._engines.bpe.loose_characters import loose_characters, with_atoms

CHARACTERS = "楂楃楄é\u0327\u0e3fa1\u3000"

# The character U+6942 alone is three bytes, and after "a" it is a part of the piece "a楂".
LOOSE = OddBpe(letters="a", scores=(("a楂", 0.0), (" 楂", 0.5)), prefix=True)
# In mode viable a text goes on with "1" and "a", which merge here although they are no pieces.
CONTINUED = OddBpe(letters="b", scores=(("ba", 0.0), (" 1", 0.5), ("ab", 1.0)), byte_fallback=False)

choices = st.lists(st.integers(0, 99), max_size=4)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 2)
@given(model=odd_bpe(), text=texts_of_odd_bpe, choices=choices)
@example(model=LOOSE, text="楂a楂 楂", choices=[])
@example(model=LOOSE, text="楃a楃楂a", choices=[95, 7])
@example(model=CONTINUED, text=" bab", choices=[3])
@example(model=OddBpe(letters="", scores=(("aa", 0.0),)), text="aaa", choices=[])
@example(model=OddBpe(scores=(("a\u0327", 0.0),), squeezes=True), text="a \u0327", choices=[])
def test_engine_answers_as_the_definition_where_characters_are_loose(mode, model, text, choices):
    check_library_walk(model.open(), text, mode, choices, CHARACTERS, model.ids_to_compare())


@given(model=odd_bpe(), text=texts_of_odd_bpe)
def test_structure_encodes_like_the_library_where_characters_are_loose(model, text):
    tokenizer = model.open()
    structure = tokenizer.structure()
    if structure is not None:
        expected = comparable(tokenizer.encode(text), tokenizer, structure)
        assert ReferenceEncoder(tokenizer, structure).encode(text) == expected


def test_loose_characters_are_those_of_pieces_that_are_neither_pieces_nor_added_tokens():
    tokenizer = OddBpe(letters="a", scores=(("a楂b", 0.0), ("éa", 0.5)), added=("é",)).open()
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    found = loose_characters(tokenizer.structure(), spelled)
    assert found == ("b", "楂")
    longer, texts = with_atoms(tokenizer.structure(), spelled, found)
    assert texts[-2:] == [b"b", "楂".encode()]
    assert len(longer.pieces) == len(longer.ranks) == len(texts) == len(spelled) + 2
    assert longer.pieces[-2:].all()


def test_a_loose_character_is_spelled_in_bytes_only_where_it_stays_alone():
    tokenizer = LOOSE.open()
    with few_characters(CHARACTERS):
        engine, oracle = table_of(tokenizer, "open")
        oracle.boundaries = frozenset()
        for text, alone in [("a", False), ("楃", True), ("a楂", True), (" ", False)]:
            ids = tokenizer.encode(text)
            assert not differences(tokenizer, engine, oracle, ids), text
            assert (tokenizer.encode(text + "楂")[: len(ids)] == ids) == alone


@pytest.mark.slow
def test_chinese_llama_2_is_decided_from_tables():
    tokenizer = real("chinese-llama-2/tokenizer.model")
    assert Verifier(tokenizer, mode="viable").method == "table"
    engine, oracle = table_of(tokenizer, "prefix")
    loose = "\u0327楂琊"
    rare = [i for i in range(tokenizer.vocab_size) if set(loose) & set(text_of(tokenizer, i))]
    bytes_ = [i for i in range(tokenizer.vocab_size) if len(tokenizer.token_bytes(i)) == 1]
    for text in ("山", "山楂", "楂", "琅琊榜 琊", "a\u0327 \u0327"):
        ids, state = tokenizer.encode(text), engine.start()
        for at, token in enumerate([*ids, ids[0]]):
            if oracle.may_begin(ids[:at]):
                found = engine.admits(state, np.array(rare + bytes_))
                assert found.tolist() == oracle.admits(ids[:at], rare + bytes_).tolist(), ids[:at]
            state = engine.step(state, token)


def text_of(tokenizer, token):
    return tokenizer.token_bytes(token).decode(errors="replace")
