"""Tokenizers that split texts at scripts and drop what stands before: the oracle's answers."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_steps import added_tokens, byte_level_step, digits, metaspace, split_by
from tests.support.random_tokenizers import JsonTokenizer, merges
from tests.support.slow import few_or_many
from tests.support.verifier_answers import check_answers
from ticore.consistency import Mode, Verifier, compare

SCRIPTS = {"type": "UnicodeScripts"}
NO_REGEX = byte_level_step(use_regex=False)
RULES = ((b"a", b"b"), (b" ", b"a"), (b" ", b" "), (b"\xd0", b"\xb4"), (b"a", b","))
PLAIN = JsonTokenizer("bytes", rules=RULES, pretokenizers=(SCRIPTS, NO_REGEX))
WITH_ADDED = JsonTokenizer(
    "bytes", rules=RULES, pretokenizers=(SCRIPTS, NO_REGEX), added=(("<x>", ()),)
)

# Latin, Common, Cyrillic, Han (with kana), Inherited, two without a script, and an emoji of 2022.
CHARACTERS = "ab ,1\nдж中ーカ\u0301\u0378\ue000\U0001faf0"
texts = st.text(CHARACTERS, max_size=8)

steps = st.sampled_from(
    (
        (SCRIPTS, NO_REGEX),
        (SCRIPTS, byte_level_step(use_regex=True)),
        (SCRIPTS, digits(individual=True), NO_REGEX),
        (SCRIPTS, split_by(r"\s+", "MergedWithNext"), NO_REGEX),
        ({"type": "WhitespaceSplit"}, SCRIPTS, NO_REGEX),
        (digits(individual=True), SCRIPTS, NO_REGEX),
        (split_by(r"\s+", "MergedWithNext"), SCRIPTS, byte_level_step(use_regex=True)),
        (NO_REGEX, SCRIPTS),
        (SCRIPTS, byte_level_step(use_regex=True), SCRIPTS),
    )
)


@st.composite
def models(draw: st.DrawFn) -> JsonTokenizer:
    return JsonTokenizer(
        "bytes",
        pretokenizers=draw(steps),
        added=draw(added_tokens()),
        ignore_merges=draw(st.booleans()),
        **draw(merges(of_bytes=True)),
    )


@pytest.mark.slow
@settings(max_examples=20)
@given(
    models() | st.just(PLAIN) | st.just(WITH_ADDED),
    st.sampled_from(("prefix", "open", "viable")),
    texts,
    st.lists(st.integers(0, 99), max_size=4),
)
@example(PLAIN, "prefix", " a", [])
@example(PLAIN, "viable", "", [95, 95])
@example(WITH_ADDED, "prefix", "a <x> a", [])
def test_verifier_equals_the_oracle(model, mode: Mode, text, choices):
    check_answers(model, mode, text, choices)


@given(st.lists(texts, min_size=1, max_size=3).map("<x>".join))
@example("a b")
@example(" a")
@example("a<x> a")
@example("a,  中")
def test_a_text_is_consistent_if_no_part_of_it_begins_without_a_script(text):
    tokenizer, verifier = verified()
    none = (" ", "\u0378", "\ue000", "\U0001faf0")
    begins = not any(part.startswith(none) for part in text.split("<x>"))
    assert (tokenizer.decode(tokenizer.encode(text)) == text) == begins
    assert verifier.start(tokenizer.encode(text)).consistent


def test_no_continuation_mends_a_list_that_begins_with_a_space():
    tokenizer, verifier = verified()
    space, letter = (tokenizer.encode("a" + c)[-1] for c in " b")
    text = verifier.start([space, letter])
    assert text.unrecoverable
    assert not compare(tokenizer, text.ids).consistent
    assert verifier.start([letter, space]).consistent


@cache
def verified():
    tokenizer = WITH_ADDED.open()
    verifier = Verifier(tokenizer)
    assert verifier.method == "table"
    return tokenizer, verifier


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
def test_a_part_is_of_one_script(mode: Mode):
    tokenizer = PLAIN.open()
    verifier = Verifier(tokenizer, mode=mode)
    assert verifier.method == "table"
    comma = {tokenizer.token_bytes(i): i for i in range(tokenizer.vocab_size)}[b"a,"]
    assert not verifier.start(tokenizer.encode("b")).admits([comma])[0]  # "a" is Latin, "," is not


@pytest.mark.parametrize(
    ("steps", "method"),
    [
        ((NO_REGEX, SCRIPTS), "table"),
        ((SCRIPTS, NO_REGEX, SCRIPTS), "table"),
        ((digits(individual=True), SCRIPTS, NO_REGEX), "suffix"),
        ((split_by(" ", "MergedWithNext"), SCRIPTS, NO_REGEX), "suffix"),
    ],
)
def test_scripts_may_be_told_apart_at_any_place(steps, method):
    """After another split the beginning of any part may be dropped, which no table knows."""
    verifier = Verifier(JsonTokenizer("bytes", rules=RULES, pretokenizers=steps).open())
    assert verifier.method == method
    assert ("put the step that splits where scripts change first" in verifier.why) == (
        method == "suffix"
    )


MARKED = JsonTokenizer(
    "characters",
    rules=((b"a", b"b"), ("▁".encode(), b"a"), ("▁".encode(), "中".encode()), (b"a", b",")),
    more=tuple(c.encode() for c in "▁ab,1дж中ーカ\U0001faf0"),
    pretokenizers=(metaspace("always"), SCRIPTS),
    decoder="llama",
    strips=True,
    byte_fallback=True,
)
UNIGRAM = JsonTokenizer(
    "unigram",
    scores=(
        *((c, -2.0) for c in "▁ab,1дж中ーカ"),
        *((text, -1.5) for text in ("▁a", "ab", "▁中", "中ー", "a,", "дж")),
    ),
    pretokenizers=(metaspace("always", split=False), SCRIPTS, digits(individual=False)),
    decoder="metaspace",
    strips=True,
)


@pytest.mark.parametrize("examples", few_or_many(10, 20))
def test_verifier_equals_the_oracle_after_metaspace(examples):
    @settings(max_examples=examples)
    @given(
        st.sampled_from((MARKED, UNIGRAM)),
        st.sampled_from(("prefix", "open", "viable")),
        texts,
        st.lists(st.integers(0, 99), max_size=4),
    )
    @example(MARKED, "prefix", "a, \U0001faf0中 中ー", [])
    @example(UNIGRAM, "viable", "ab, a 中ー", [95])
    def check(model, mode: Mode, text, choices):
        # With a dummy prefix, unigram in mode viable has no table for any pretokenizer.
        method = "retokenize" if model is UNIGRAM and mode == "viable" else "table"
        assert check_answers(model, mode, text, choices) == method

    check()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rules": ((b"a", "\U0001faf0".encode()),)}, "joins '\\\\U0001faf0', which has no script"),
        ({"pretokenizers": (metaspace("always"), digits(individual=True), SCRIPTS)}, "right after"),
        (
            {"pretokenizers": (SCRIPTS, metaspace("never")), "strips": False},
            "where scripts change, before Metaspace",
        ),
        (
            {"pretokenizers": (metaspace("never"), SCRIPTS), "strips": False},
            "right after Metaspace",
        ),
    ],
)
def test_after_metaspace_it_is_said_why_there_is_no_table(changes, why):
    verifier = Verifier(replace(MARKED, **changes).open())
    assert verifier.method == "retokenize"
    assert re.search(why, verifier.why)


def test_unigram_with_bytes_has_no_table_where_scripts_change():
    """Bytes spell characters without a script, after which a sum may begin again or not."""
    verifier = Verifier(replace(UNIGRAM, byte_fallback=True, decoder="llama").open())
    assert "which has no script" in verifier.why
