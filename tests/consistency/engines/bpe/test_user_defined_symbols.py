"""SentencePiece BPE with user-defined symbols, in texts that are rewritten and in others."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceNormalizer, sentencepiece_model_pb2

from tests.support.random_bpe import MODES
from tests.support.random_sentencepiece import OddBpe, with_symbols
from tests.support.real_walks import check_library_walk
from tests.support.reference_encoder import ReferenceEncoder, comparable

CHARSMAP = sentencepiece_model_pb2.ModelProto.FromString(
    SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto()
).normalizer_spec.precompiled_charsmap
CHARACTERS = "abﬁé\u0301<>\u0e3f1\u3000"

PROTECTED = OddBpe(letters="aé\u0301fi", added=("a\u0301",), charsmap=CHARSMAP)
texts = st.text("abﬁé\u0301<>  fi", max_size=7)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 2)
@given(model=with_symbols(CHARSMAP), text=texts, choices=st.lists(st.integers(0, 99), max_size=4))
@example(model=PROTECTED, text="a\u0301a", choices=[3])
@example(model=PROTECTED, text="fia", choices=[0, 1])
@example(model=OddBpe(letters="ab", never=("a b",), prefix=True), text="a b", choices=[2])
def test_engine_answers_as_the_definition_around_user_defined_symbols(mode, model, text, choices):
    check_library_walk(model.open(), text, mode, choices, CHARACTERS, model.ids_to_compare())


@given(model=with_symbols(CHARSMAP), text=texts)
def test_structure_encodes_like_the_library_around_user_defined_symbols(model, text):
    tokenizer = model.open()
    structure = tokenizer.structure()
    if structure is not None and (not model.charsmap or structure.normalize(text) == text):
        expected = comparable(tokenizer.encode(text), tokenizer, structure)
        assert ReferenceEncoder(tokenizer, structure).encode(text) == expected


def test_a_symbol_is_kept_where_the_normalizer_would_compose_it():
    tokenizer = PROTECTED.open()
    (symbol,) = tokenizer.structure().added_tokens.values()
    assert tokenizer.encode("a\u0301") == [symbol]
    assert tokenizer.decode(tokenizer.encode("e\u0301")) == "é"
