"""The engine for BPE without a pretokenizer, against the definition."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import (
    MODES,
    Bpe,
    character_level,
    check_after,
    check_nothing_lost,
    check_short_lists,
    check_walk,
    engine_of,
    few_characters,
    with_long_run,
    with_text,
)

pytestmark = pytest.mark.slow

choices = st.lists(st.integers(0, 99), max_size=6)
# The id of its added token is 1, which equals True.
ADDED_AS_ONE = Bpe(
    ranks=((b"\xe2\x80\x8d", 0), (b"\xf0\x9f\x8f\xbd\xe2\x80\x8d", 0)),
    more=(b"\xe2\x80\x8d", b"\xf0\x9f\x8f\xbd\xe2\x80\x8d"),
    special=("x|y",),
    added=("''",),
)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=2 * settings.default.max_examples)
@given(case=with_text(character_level()), choices=choices)
@example(case=(ADDED_AS_ONE, ""), choices=[0, 10])
def test_unsplit_engine_answers_as_the_definition_along_a_list(mode, case, choices):
    check_walk(*case, mode, choices)


METASPACE = Bpe(
    normal_form="metaspace", dummy_prefix=True, rules=((b" ", b" "), (b"  ", b"  ")), more=(b"a",)
)
ONE_SPACE = Bpe(dummy_prefix=True, more=(b"a",))
COMPOSING = Bpe(normal_form="NFC", more=tuple(c.encode() for c in "o\u0316\u0301ó"))


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 2)
@given(case=with_long_run(character_level()))
@example(case=(METASPACE, "a" + " " * 64))
@example(case=(METASPACE, "a" + " " * 65))
@example(case=(METASPACE, "a" + " " * 300))
@example(case=(ONE_SPACE, "a" + " " * 64))
@example(case=(ONE_SPACE, " " * 64))
@example(case=(COMPOSING, "o" + "\u0316" * 32))
@example(case=(COMPOSING, "o" + "\u0316" * 300))
@example(case=(COMPOSING, "o\u0301".join(["", "\u0316" * 64])))
def test_unsplit_engine_answers_as_the_definition_after_a_long_run(mode, case):
    check_after(*case, mode, "\u0301")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "model",
    [
        Bpe(special=("abc",), more=(b"xa", b"ab", b"bc", b"cx"), fallback=False),
        Bpe(special=("a b",), more=(b"a ", b" b"), dummy_prefix=True, fallback=False),
        Bpe(added=("abc",), more=(b"xa", b"bc"), fallback=False),
        Bpe(normal_form="NFC", more=("a\u0301\u0327".encode(), b"xa"), fallback=False),
        Bpe(more=(b"xa",), fallback=True),
        Bpe(normal_form="metaspace", dummy_prefix=True, more=(b" a", b"  "), fallback=False),
        Bpe(squeezes=True, dummy_prefix=True, more=(b" a", b"a "), fallback=False),
    ],
)
def test_unsplit_engine_answers_as_the_definition_for_all_short_lists(model, mode):
    check_short_lists(model, mode, 3)


@given(case=with_text(character_level()))
def test_never_recovers_is_false_for_what_a_text_is_read_as(case):
    model, text = case
    tokenizer = model.open()
    with few_characters():
        engine, _ = engine_of(tokenizer, "prefix", "table")
    pieces = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    for some in [text, *(tokenizer.decode([a, b]) for a in pieces for b in pieces[:40])]:
        check_nothing_lost(engine, tokenizer, some)
