"""Stable cuts: where they lie, what keeps them away, and what they rest on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import (
    MODES,
    PATTERNS,
    Bpe,
    byte_level,
    character_level,
    check_behind,
    check_walk,
    with_text,
)
from tests.models import ToyTokenizer
from tests.tokenizers import TRAINED
from ticore.consistency.tail import cut_finder
from ticore.interfaces import TokenizerStructure

choices = st.lists(st.integers(0, 99), max_size=6)
with_cuts = byte_level() | character_level().map(
    lambda model: replace(model, normal_form="", squeezes=False)
)


@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(with_cuts), choices=choices)
def test_only_what_follows_a_cut_matters(mode, case, choices):
    """The tail rung on random tokenizers, against the definition."""
    check_walk(*case, mode, choices, "tail")


@given(case=with_text(with_cuts), more=st.text(" ab'\n", max_size=6))
def test_cuts_split_the_encoding_of_every_longer_text(case, more):
    model, text = case
    tokenizer = model.open()
    ids = tokenizer.encode(text)
    assume(not tokenizer.special_ids.intersection(ids))
    cut = cut_finder(tokenizer).advance(ids, 0)
    assert tokenizer.encode(tokenizer.decode(ids) + more)[:cut] == ids[:cut]


def cut_text(tokenizer, text):
    """The text before the last stable cut."""
    ids = tokenizer.encode(text)
    return tokenizer.decode(ids[: cut_finder(tokenizer).advance(ids, 0)])


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three", "one two"),
        ("one two ", "one"),
        ("one", ""),
        ("one  two   ", ""),
        ("one two  x", "one"),
        ("one\ntwo three", "one\ntwo"),
    ],
)
def test_words(text, before):
    """Before a single space and something after it."""
    assert cut_text(TRAINED["sp-bpe"](), text) == before


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three", "one two"),
        ("one two t", "one two"),
        ("one two ", "one"),
        ("one two'", "one"),
        ("one two'r", "one two"),
        ("one\n\n", ""),
    ],
)
def test_pretokens(text, before):
    """At a boundary with a non-space and two characters after it."""
    assert cut_text(TRAINED["hf-gpt2"](), text) == before


def test_no_cut_is_sought_before_one_that_is_known():
    tokenizer = TRAINED["hf-gpt2"]()
    ids = tokenizer.encode("one two three")
    finder = cut_finder(tokenizer)
    cut = finder.advance(ids, 0)
    assert 0 < cut < len(ids)
    assert finder.advance(ids, cut) == cut


def test_after_malformed_bytes_there_is_no_cut():
    tokenizer = Bpe(pattern="gpt2").open()
    ids = tokenizer.encode("one two three four")
    byte = next(i for i in range(256) if tokenizer.token_bytes(i) == b"\x80")
    finder = cut_finder(tokenizer)
    assert finder.advance(ids, 0) > 0
    assert finder.advance([byte, *ids], 0) == 0


def test_a_character_may_be_unfinished_behind_a_cut():
    tokenizer = Bpe(pattern="gpt2").open()
    finder = cut_finder(tokenizer)
    ids = tokenizer.encode("one two あ")
    assert tokenizer.decode(ids[: finder.advance(ids[:-1], 0)]) == "one"


@pytest.mark.parametrize(
    ("text", "before"),
    [("one two \u0378 three", "one two \u0378"), ("one \u0378\u0378\u0378 four", "")],
)
def test_characters_that_libraries_disagree_on(text, before):
    """A cut is one however they are read, and of many it is not tried."""
    assert cut_text(TRAINED["hf-gpt2"](), text) == before


def test_a_character_that_may_compose():
    tokenizer = TRAINED["hf-cl100k-nfc"]()
    assert cut_text(tokenizer, "one !\u0338x") != "one !"


@pytest.mark.parametrize("kind", ["special", "added"])
def test_a_half_written_added_token_keeps_cuts_away(kind):
    tokenizer = Bpe(pattern="gpt2", **{kind: ("<t>",)}).open()
    assert cut_text(tokenizer, "one two <ab") == "one two"
    assert cut_text(tokenizer, "one two ab<") == "one two"


def test_an_added_token_keeps_cuts_away():
    assert cut_text(Bpe(pattern="gpt2", added=("<t>",)).open(), "one <t> two three") == ""
    assert cut_text(Bpe(pattern="gpt2", added=("<u>",)).open(), "one <t> two three") != ""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["special", "added"])
def test_a_cut_is_not_made_inside_an_added_token(kind, mode):
    """A special one spells nothing, so that its text is known to the description alone."""
    model = Bpe(**{kind: ("x yz",)}, ranks=((b" y", 0), (b"x", 0), (b"y", 0), (b"z", 0)))
    check_behind(model, mode, b"x", b" y", rung="tail")


PLAIN = TokenizerStructure(kind="bpe", atoms="bytes", pieces=np.ones(256, dtype=bool))
GPT2 = (PATTERNS["gpt2"],)


@pytest.mark.parametrize(
    ("structure", "why"),
    [
        (None, "the tokenizer's structure is not known"),
        (replace(PLAIN, kind="unigram"), "a unigram tokenizer has no stable cuts"),
        (replace(PLAIN, normalizer="nfkc"), "the normaliser 'nfkc' may work across a cut"),
        (replace(PLAIN, normalizer="nfc"), "the normaliser 'nfc' may work across a cut"),
        (
            replace(PLAIN, normalizer="nfkc", pretokenizer=GPT2),
            "the normaliser 'nfkc' may work across a cut",
        ),
        (replace(PLAIN, keeps_whitespace=False), "the tokenizer drops spaces"),
        (
            replace(PLAIN, pretokenizer=(r"\w+",)),
            "the pretokenizer's regular expression is not one of those known",
        ),
        (
            replace(PLAIN, pretokenizer=(*GPT2, *GPT2)),
            "the pretokenizer's regular expression is not one of those known",
        ),
    ],
)
def test_where_there_are_none(structure, why):
    class Described(ToyTokenizer):
        def structure(self):
            return structure

    assert cut_finder(Described(["a"])) == why
