"""Byte-level BPE behind a known expression, against the definition."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.consistency.random_bpe import (
    MODES,
    PATTERNS,
    Bpe,
    byte_level,
    check_after,
    check_behind,
    check_nothing_lost,
    check_one_by_one,
    check_short_lists,
    check_walk,
    engine_of,
    few_characters,
    with_long_run,
    with_text,
)

any_mode = pytest.mark.parametrize("mode", MODES)
where_characters_may_be_begun = pytest.mark.parametrize("mode", ["open", "viable"])
choices = st.lists(st.integers(0, 99), max_size=6)


@any_mode
@settings(max_examples=3 * settings.default.max_examples)
@given(case=with_text(byte_level()), choices=choices)
def test_random_tokenizers(mode, case, choices):
    check_walk(*case, mode, choices)


COMPOSING = Bpe(
    pattern="cl100k", normal_form="NFC", ranks=tuple((c.encode(), 0) for c in "\u0316\u0301ó")
)


@any_mode
@settings(max_examples=settings.default.max_examples // 2)
@given(case=with_long_run(byte_level()))
@example(case=(COMPOSING, "o" + "\u0316" * 31))
@example(case=(COMPOSING, "o" + "\u0316" * 32))
@example(case=(COMPOSING, "o" + "\u0316" * 300))
def test_what_stands_before_a_long_run_is_not_forgotten(mode, case):
    check_after(*case, mode, "\u0301")


@any_mode
@pytest.mark.parametrize("pattern", sorted(PATTERNS))
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
def test_all_short_lists(words, settings, pattern, mode):
    texts = [word.encode() for word in words.split("|")]
    rules = tuple((text[:n], text[n:]) for text in texts for n in range(1, len(text)))
    check_short_lists(Bpe(pattern=pattern, rules=rules, **settings), mode, 2)


@given(case=with_text(byte_level()))
@example(case=(Bpe(pattern="cl100k"), "\u017fé"))
def test_no_text_is_given_up(case):
    model, text = case
    with few_characters():
        engine, judge = engine_of(model.open(), "prefix")
        check_nothing_lost(engine, judge.tokenizer, text)


@where_characters_may_be_begun
def test_a_character_whose_sets_are_not_certain_may_be_the_only_one_that_fits(mode):
    """Behind C5 a long s does, though libraries disagree on it, and the other one has a token."""
    model = Bpe(pattern="gpt2", rules=(("ž".encode()[:1], "ž".encode()[1:]),))
    check_behind(model, mode, characters="ž\u017f")


@where_characters_may_be_begun
def test_a_character_that_stays_whole_does_not_finish_what_its_first_byte_begins(mode):
    """No rule makes this letter, but alone it is a token, and another one fits no better."""
    letter = "ก".encode()
    rules = ((letter[1:2], letter[2:]), (letter[:1], letter[1:2]))
    model = Bpe(pattern="gpt2", ignore_merges=True, rules=rules, more=(letter,))
    check_behind(model, mode, characters="ก฿")


@where_characters_may_be_begun
def test_bytes_that_finish_a_character_may_complete_what_is_another_token(mode):
    """No rule makes this letter of its first two bytes and the third, but alone it is a token."""
    letter = "ᄉ".encode()
    rules = ((letter[:1], letter[1:2]),)
    model = Bpe(pattern="gpt2", ignore_merges=True, rules=rules, more=(letter,))
    check_behind(model, mode, letter[:2], characters="ᄀᄉ")


@where_characters_may_be_begun
def test_what_comes_before_an_unfinished_character_is_not_taken_for_another(mode):
    """The voiced sign composes with ka, not with n, and both are letters of one kind."""
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=(("\u3099".encode(), 0),))
    begun = (b"\xe3", b"\x82")
    histories = [[*(bytes([b]) for b in letter.encode()), *begun] for letter in "かんか"]
    check_one_by_one(model, mode, histories, characters="ア\u3099")


@where_characters_may_be_begun
def test_marks_alone_do_not_tell_what_another_mark_composes_with(mode):
    """A grave accent goes with the letter, across the cedilla."""
    cedilla = "\u0327".encode()
    model = Bpe(pattern="cl100k", normal_form="NFC", ranks=((cedilla + b"\xcc", 0), (cedilla, 0)))
    check_behind(model, mode, b"a", characters="\u0300")


@any_mode
def test_a_long_run_is_not_taken_for_a_shorter_one_that_is_another_token(mode):
    """Five dots are one token, though no rule makes it; seven are not."""
    rules = ((b".", b"."), (b".", b".."), (b"...", b".."))
    model = Bpe(pattern="cl100k", ignore_merges=True, rules=rules)
    check_one_by_one(model, mode, [[b".."] * 2, [b".."] * 3])


@any_mode
@pytest.mark.parametrize("ending", [b"lL", b"Ll", b"vE", b"Re"])
def test_a_contraction_may_be_in_mixed_case(mode, ending):
    check_behind(Bpe(pattern="o200k", ranks=((ending, 0),)), mode, b"A", b"'")
