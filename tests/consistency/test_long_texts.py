"""A long text is encoded in stretches to the same ids."""

from dataclasses import replace

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.support.random_added_tokens import Added, Model, added_models
from tests.support.random_bpe import PATTERNS, Bpe, byte_level, with_text
from tests.support.tokenizers import FRAGMENTS, TRAINED
from ticore.consistency import _long_texts, compare
from ticore.consistency._long_texts import encode_long

TEXTS = st.lists(
    st.sampled_from(
        (*FRAGMENTS, "a", " b", " the", "国", "，", "。日", "'s", "\n", "  ", "A", "1")
    ),
    max_size=12,
).map("".join)


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch):
    monkeypatch.setattr(_long_texts, "_STRETCH", 1)
    monkeypatch.setattr(_long_texts, "_LONG", 0)


@settings(max_examples=30)
@given(text=TEXTS)
@pytest.mark.parametrize("name", [name for name in TRAINED if name.startswith(("hf", "tik"))])
def test_a_text_in_stretches_has_the_same_ids(name, text):
    tokenizer = TRAINED[name]()
    assert encode_long(tokenizer, text) == tokenizer.encode(text)


@settings(max_examples=25)
@given(drawn=with_text(byte_level()), more=TEXTS)
def test_stretches_of_random_tokenizers_have_the_same_ids(drawn, more):
    model, text = drawn
    # A described tokenizer reads a text up to the first special token alone.
    tokenizer = replace(model, special=()).open()
    text = more + text + more
    assert encode_long(tokenizer, text) == tokenizer.encode(text)


@settings(max_examples=30)
@given(model=added_models(flags=True), text=st.text("ab <x>1\n", max_size=30))
@example(model=Model("gpt2", added=(Added("b a"),)), text="ab a")
@example(model=Model("gpt2", added=(Added("a "),)), text="ba a")
@example(model=Model("gpt2", added=(Added("aa", special=True, rstrip=True),)), text="aa b")
def test_no_added_token_is_cut(model, text):
    tokenizer = model.open()
    assume(tokenizer.structure() is not None)
    assert encode_long(tokenizer, text) == tokenizer.encode(text)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_is_cut_where_it_can_be(pattern, monkeypatch):
    tokenizer = Bpe(pattern=pattern).open()
    encoded, encode = [], tokenizer.encode
    monkeypatch.setattr(tokenizer, "encode", lambda text: encoded.append(text) or encode(text))
    text = "the fox isn't red, 国，日。 A b c"
    assert compare(tokenizer, encode(text)).consistent
    assert encoded == ["the", " fox", " isn't", " red, 国", "，日", "。 A b", " c"]
