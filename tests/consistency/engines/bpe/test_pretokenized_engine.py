"""The engine for byte-level BPE with a known expression, against the definition."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import (
    MODES,
    PATTERNS,
    Bpe,
    byte_level,
    check_after,
    check_after_tokens,
    check_nothing_lost,
    check_one_by_one,
    check_short_lists,
    check_walk,
    engine_of,
    few_characters,
    with_long_run,
    with_text,
)
from tests.support.slow import some_pairs

any_mode = pytest.mark.parametrize("mode", MODES)
in_modes_with_unfinished_characters = pytest.mark.parametrize("mode", ["open", "viable"])
choices = st.lists(st.integers(0, 99), max_size=6)


@pytest.mark.slow
@any_mode
@settings(max_examples=2 * settings.default.max_examples)
@given(case=with_text(byte_level()), choices=choices)
def test_pretokenized_engine_answers_as_the_definition_along_a_list(mode, case, choices):
    check_walk(*case, mode, choices)


COMPOSING = Bpe(
    pattern="cl100k", normal_form="NFC", ranks=tuple((c.encode(), 0) for c in "\u0316\u0301ó")
)


@pytest.mark.slow
@any_mode
@settings(max_examples=settings.default.max_examples // 2)
@given(case=with_long_run(byte_level()))
@example(case=(COMPOSING, "o" + "\u0316" * 31))
@example(case=(COMPOSING, "o" + "\u0316" * 32))
@example(case=(COMPOSING, "o" + "\u0316" * 300))
def test_pretokenized_engine_answers_as_the_definition_after_a_long_run(mode, case):
    check_after(*case, mode, "\u0301")


@pytest.mark.slow
@pytest.mark.parametrize(("pattern", "mode"), some_pairs(sorted(PATTERNS), MODES, one_in=2))
@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (" a|'s|'r|e'|A1|!\n|\n |a!", {}),
        ("  |a1| 1", {}),
        ("xa| b|b!", {"special": ("a b",)}),
        ("x!|!b|b!", {"added": ("!!b",)}),
        ("xa|\u0301|!\u0301| !", {"normal_form": "NFC"}),
        (" a|a'", {"ignore_merges": True, "more": (b"xa", b"!a")}),
    ],
)
def test_pretokenized_engine_answers_as_the_definition_for_all_short_lists(
    words, settings, pattern, mode
):
    texts = [word.encode() for word in words.split("|")]
    rules = tuple((text[:n], text[n:]) for text in texts for n in range(1, len(text)))
    check_short_lists(Bpe(pattern=pattern, rules=rules, **settings), mode, 2)


@pytest.mark.slow
@given(case=with_text(byte_level()))
@example(case=(Bpe(pattern="cl100k"), "\u017fé"))
def test_never_recovers_is_false_for_what_a_text_is_read_as(case):
    model, text = case
    with few_characters():
        engine, oracle = engine_of(model.open(), "prefix")
        check_nothing_lost(engine, oracle.tokenizer, text)


@in_modes_with_unfinished_characters
def test_admits_a_beginning_that_only_an_ambiguous_character_finishes(mode):
    """After the byte C5 only a long s fits, on whose class libraries disagree: ž has a token."""
    model = Bpe(pattern="gpt2", rules=(("ž".encode()[:1], "ž".encode()[1:]),))
    check_after_tokens(model, mode, characters="ž\u017f")


@in_modes_with_unfinished_characters
def test_refuses_a_beginning_when_the_finished_character_is_one_token_as_a_part(mode):
    """No rule makes this letter, but as a part of its own it is a token."""
    letter = "ก".encode()
    rules = ((letter[1:2], letter[2:]), (letter[:1], letter[1:2]))
    model = Bpe(pattern="gpt2", ignore_merges=True, rules=rules, more=(letter,))
    check_after_tokens(model, mode, characters="ก฿")


@in_modes_with_unfinished_characters
def test_refuses_the_last_byte_when_the_finished_character_is_one_token_as_a_part(mode):
    """No rule makes this letter of its first two bytes and the third."""
    letter = "ᄉ".encode()
    rules = ((letter[:1], letter[1:2]),)
    model = Bpe(pattern="gpt2", ignore_merges=True, rules=rules, more=(letter,))
    check_after_tokens(model, mode, letter[:2], characters="ᄀᄉ")


@in_modes_with_unfinished_characters
def test_answers_inside_a_character_depend_on_the_letter_before_it(mode):
    """The voiced sign composes with ka, but not with n. Both are letters of one class."""
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=(("\u3099".encode(), 0),))
    begun = (b"\xe3", b"\x82")
    histories = [[*(bytes([b]) for b in letter.encode()), *begun] for letter in "かんか"]
    check_one_by_one(model, mode, histories, characters="ア\u3099")


@in_modes_with_unfinished_characters
def test_answers_after_a_mark_depend_on_the_letter_before_it(mode):
    """A grave accent composes with the letter, across the cedilla."""
    cedilla = "\u0327".encode()
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=((cedilla + b"\xcc", 0), (cedilla, 0)))
    check_after_tokens(model, mode, b"a", characters="\u0300")


@in_modes_with_unfinished_characters
def test_answers_about_the_first_byte_of_a_mark_depend_on_the_letter_before_it(mode):
    """The acute accent composes with the first letter only. Both end in the same byte."""
    model = Bpe(pattern="cl100k", normal_form="NFC", more=(b"a\xcc",))
    histories = [[bytes([byte]) for byte in letter.encode()] for letter in "âĢâ"]
    check_one_by_one(model, mode, histories, characters="\u0301")


@any_mode
def test_answers_after_long_runs_of_one_shape_differ_when_one_is_a_replaced_part(mode):
    """Five dots are one token, though no rule makes it. Seven are not."""
    rules = ((b".", b"."), (b".", b".."), (b"...", b".."))
    model = Bpe(pattern="cl100k", ignore_merges=True, rules=rules)
    check_one_by_one(model, mode, [[b".."] * 2, [b".."] * 3])


@pytest.mark.slow
@any_mode
@pytest.mark.parametrize("ending", [b"lL", b"Ll", b"vE", b"Re"])
def test_admits_what_follows_a_contraction_in_mixed_case(mode, ending):
    check_after_tokens(Bpe(pattern="o200k", ranks=((ending, 0),)), mode, b"A", b"'")
