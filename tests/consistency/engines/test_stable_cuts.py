"""Stable cuts: where they lie, what keeps them away, and what they rest on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.random_bpe import (
    MODES,
    PATTERNS,
    Bpe,
    byte_level,
    character_level,
    check_after_tokens,
    check_walk,
    with_text,
)
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency._engines.stable_cuts import WordCuts, cut_finder
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import TokenizerStructure

choices = st.lists(st.integers(0, 99), max_size=6)
with_cuts = byte_level() | character_level().map(
    lambda model: replace(model, normal_form="", squeezes=False)
)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(with_cuts), choices=choices)
def test_retokenizing_engine_answers_as_the_oracle_when_it_reads_from_the_last_cut(
    mode, case, choices
):
    """The method `suffix` on random tokenizers, against the definition."""
    check_walk(*case, mode, choices, "suffix")


@pytest.mark.slow
@given(case=with_text(with_cuts), more=st.text(" ab'\n", max_size=6))
def test_advance_finds_a_cut_that_splits_the_encoding_of_every_longer_text(case, more):
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
def test_word_cuts_lie_before_a_single_space_and_something_after_it(text, before):
    """Before a single space and something after it."""
    assert cut_text(TRAINED["sp-bpe"](), text) == before


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("one two three", "one two"),
        ("one two t", "one two"),
        ("one two ", "one two"),
        ("one two'", "one two"),
        ("one two'r", "one two"),
        ("one\n\n", "one"),
        ("one two", "one"),
        ("one", ""),
    ],
)
def test_pretoken_cuts_lie_where_the_character_after_them_ends_a_part(text, before):
    """Whatever follows, the part before such a boundary is the same."""
    assert cut_text(TRAINED["hf-gpt2"](), text) == before


@given(
    spelled=st.lists(st.text("a é", max_size=3).map(str.encode) | st.just(b"\xff")),
    added=st.lists(st.text("<b ", min_size=1, max_size=3)),
)
def test_word_cuts_know_which_bytes_some_text_holds_before_a_space(spelled, added):
    glued = {0x20}
    for data in (*spelled, *map(str.encode, added)):
        glued.update(data[at - 1] for at in range(1, len(data)) if data[at] == 0x20)
    cuts = WordCuts(spelled, added)
    assert list(cuts.ends) == [bool(data) and data[-1] not in glued for data in spelled]
    assert list(cuts.begins) == [len(data) > 1 and data[0] == 0x20 != data[1] for data in spelled]


def test_advance_stays_at_a_cut_that_is_known_to_be_the_last():
    tokenizer = TRAINED["hf-gpt2"]()
    ids = tokenizer.encode("one two three")
    finder = cut_finder(tokenizer)
    cut = finder.advance(ids, 0)
    assert 0 < cut < len(ids)
    assert finder.advance(ids, cut) == cut


def test_advance_finds_no_cut_after_malformed_bytes():
    tokenizer = Bpe(pattern="gpt2").open()
    ids = tokenizer.encode("one two three four")
    byte = next(i for i in range(256) if tokenizer.token_bytes(i) == b"\x80")
    finder = cut_finder(tokenizer)
    assert finder.advance(ids, 0) > 0
    assert finder.advance([byte, *ids], 0) == 0


def test_advance_finds_a_cut_before_an_unfinished_character():
    tokenizer = Bpe(pattern="gpt2").open()
    finder = cut_finder(tokenizer)
    ids = tokenizer.encode("one two あ")
    assert tokenizer.decode(ids[: finder.advance(ids[:-1], 0)]) == "one two"


@pytest.mark.parametrize(
    ("text", "before"),
    [("one two \u0378 three", "one two \u0378"), ("one \u0378\u0378\u0378 four", "")],
)
def test_advance_finds_a_cut_only_where_it_is_one_for_every_library(text, before):
    """A cut is one however they are read, and of many it is not tried."""
    assert cut_text(TRAINED["hf-gpt2"](), text) == before


def test_advance_finds_no_cut_before_a_character_that_may_compose():
    tokenizer = TRAINED["hf-cl100k-nfc"]()
    assert cut_text(tokenizer, "one !\u0338x") != "one !"


@pytest.mark.parametrize("kind", ["special", "added"])
def test_advance_finds_no_cut_after_the_beginning_of_an_added_token(kind):
    tokenizer = Bpe(pattern="gpt2", **{kind: ("<t>",)}).open()
    assert cut_text(tokenizer, "one two <ab") == "one two"
    assert cut_text(tokenizer, "one two ab<") == "one two ab"


def test_advance_finds_no_cut_in_a_text_with_an_added_token():
    assert cut_text(Bpe(pattern="gpt2", added=("<t>",)).open(), "one <t> two three") == ""
    assert cut_text(Bpe(pattern="gpt2", added=("<u>",)).open(), "one <t> two three") != ""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["special", "added"])
def test_word_cuts_do_not_lie_inside_an_added_token(kind, mode):
    """A special one spells nothing, so that its text is known to the description alone."""
    model = Bpe(**{kind: ("x yz",)}, ranks=((b" y", 0), (b"x", 0), (b"y", 0), (b"z", 0)))
    check_after_tokens(model, mode, b"x", b" y", method="suffix")


PLAIN = TokenizerStructure(kind="bpe", atoms="bytes", pieces=np.ones(256, dtype=bool))
GPT2 = (PATTERNS["gpt2"],)


@pytest.mark.parametrize(
    ("structure", "why"),
    [
        (None, "the tokenizer's structure is not known"),
        (replace(PLAIN, kind="unigram"), "a unigram tokenizer has no stable cuts"),
        (replace(PLAIN, normalizer="nfkc"), "the normalizer 'nfkc' may work across a cut"),
        (replace(PLAIN, normalizer="nfc"), "the normalizer 'nfc' may work across a cut"),
        (
            replace(PLAIN, normalizer="nfkc", pretokenizer=GPT2),
            "the normalizer 'nfkc' may work across a cut",
        ),
        (replace(PLAIN, keeps_whitespace=False), "the tokenizer drops spaces"),
        (
            replace(PLAIN, pretokenizer=(r"(a)\1",)),
            "the pretokenizer's regular expression has the escape `\\1`, at character 5 of "
            "'(a)\\\\1'",
        ),
    ],
)
def test_cut_finder_says_why_when_there_is_none(structure, why):
    class Described(ToyTokenizer):
        def structure(self):
            return structure

    with pytest.raises(Unsupported) as reason:
        cut_finder(Described(["a"]))
    assert str(reason.value) == why
