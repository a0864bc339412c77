"""Tokenizers that put a space before texts: tables give the oracle's answers."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_steps import added_tokens, byte_level_step, digits, split_by
from tests.support.random_tokenizers import JsonTokenizer, merges, texts_of
from tests.support.verifier_answers import check_answers
from ticore.consistency import Verifier, compare
from ticore.errors import SettingsError

PREFIXING = (byte_level_step(use_regex=True, add_prefix_space=True),)
RULES = ((b" ", b"a"), (b" a", b"b"), (b"a", b"b"))
PLAIN = JsonTokenizer("bytes", rules=RULES, pretokenizers=PREFIXING)
WITH_ADDED = JsonTokenizer("bytes", rules=RULES, pretokenizers=PREFIXING, added=(("<x>", ()),))

models = st.builds(
    JsonTokenizer,
    st.just("bytes"),
    pretokenizers=st.sampled_from(
        (
            PREFIXING,
            (*PREFIXING, digits(individual=False)),
            (byte_level_step(use_regex=False, add_prefix_space=True), split_by("[0-9]{2}")),
        )
    ),
    added=added_tokens(),
    ignore_merges=st.booleans(),
)


@st.composite
def prefixing(draw: st.DrawFn) -> JsonTokenizer:
    model = draw(models)
    return JsonTokenizer(**{**vars(model), **draw(merges(of_bytes=True))})


@settings(max_examples=20)
@given(st.data(), prefixing(), st.sampled_from(("prefix", "open", "viable")))
def test_verifier_equals_the_oracle(data, model, mode):
    text = data.draw(texts_of(model))
    check_answers(model, mode, text, data.draw(st.lists(st.integers(0, 99), max_size=4)))


@given(text=st.text("ab \n<x>", max_size=6))
@example(text="a")
@example(text=" a")
@example(text="")
@example(text=" a<x>a")
@example(text=" a<x> a<x>")
def test_a_text_is_consistent_if_it_begins_with_a_space_after_each_added_token(text):
    tokenizer = WITH_ADDED.open()
    plain = tokenizer.without_leading_space()
    verifier = Verifier(tokenizer)
    assert verifier.method == "table"
    parts = text.split("<x>")
    begins = all(part.startswith(" ") for part in parts if part)
    assert verifier.start(plain.encode(text)).consistent == begins


def test_no_continuation_mends_a_list_that_begins_without_a_space():
    tokenizer = PLAIN.open()
    text = Verifier(tokenizer).start(tokenizer.without_leading_space().encode("ab"))
    assert text.unrecoverable
    assert not compare(tokenizer, text.ids).consistent


def test_tables_are_not_used_where_the_channel_removes_the_space():
    tokenizer = PLAIN.open()
    verifier = Verifier(tokenizer, channel="strip")
    assert "puts back a space" in verifier.why
    assert verifier.start(tokenizer.encode("a")).consistent
    assert Verifier(tokenizer, channel="newlines").method == "table"


def test_a_space_before_each_part_is_refused_with_the_reason():
    model = JsonTokenizer("bytes", pretokenizers=(digits(individual=True), *PREFIXING))
    with pytest.raises(SettingsError, match="reads back what it wrote"):
        Verifier(model.open())
    assert "before each part" in model.open().no_structure_reason
