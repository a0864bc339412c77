"""Seams against the encoding of the whole."""

import pytest

import ticore
from benchmarks._harness.corpora import _BUNDLED
from benchmarks.verification.seams import SeamCases
from tests.support.tokenizers import (
    FRAGMENTS,
    TRAINED,
    byte_level_with_added,
    byte_level_with_digits_apart,
)
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import PrefixTokenizer, _seam, seam
from ticore.consistency._engines.text_cuts import _first_apart, _leftmost_longest
from ticore.errors import SettingsError, WrongTypeError

WITH_ADDED = {**TRAINED, "added": byte_level_with_added}

TEXTS = (*FRAGMENTS, *_BUNDLED.values())
CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "<e>", "<unk>"], special=(4, 5, 6))
CHAT.unknown_ids = frozenset({6})


def test_seams_are_apart_where_the_encoding_of_the_whole_says_so():
    """All kinds of tokenizers, with odd texts, cut added tokens, and any texts around."""
    always = 0
    for name, opened in sorted(WITH_ADDED.items()):
        tally = SeamCases(opened(), TEXTS, f"1 {name}").play(60)
        assert not tally.wrong, f"{name}: {tally.wrong[0]}"
        always += tally.always
    assert always > 100


def test_seams_are_apart_also_where_little_text_is_looked_at(monkeypatch):
    """The texts are longer than what is looked at, as in real conversations."""
    monkeypatch.setattr(_seam, "_NEAR", 7)
    for name in ("hf-gpt2", "hf-cl100k-nfc", "hf-o200k", "sp-bpe", "added"):
        tally = SeamCases(WITH_ADDED[name](), TEXTS, f"5 {name}").play(150)
        assert not tally.wrong, f"{name}: {tally.wrong[0]}"


def test_texts_are_not_always_apart_where_digits_that_follow_change_what_stands_before():
    tokenizer = byte_level_with_digits_apart()
    encode = tokenizer.encode
    assert encode("a\n\n1") == encode("a\n") + encode("\n1")
    assert encode("a\n\n123") != encode("a\n") + encode("\n123")
    found = seam(tokenizer, "a\n", "\n1")
    assert (found.apart, found.always) == (True, False)
    assert seam(tokenizer, "a b", " b").always


def test_special_ids_keep_their_neighbours_apart():
    assert seam(CHAT, [1, 4], [2]).always
    assert seam(CHAT, [1], [5, 2]).always
    found = seam(CHAT, [4, 1], [2, 5])  # a b is read as ab
    assert (found.apart, found.changed_left, found.changed_right) == (False, 1, 1)
    assert found.replacement == (3,)
    assert not seam(CHAT, [1, 6], [2]).apart  # unknown text is lost


def test_wrong_sides_are_refused():
    with pytest.raises(SettingsError, match="expected token ids from 0 to 6"):
        seam(CHAT, [7], "a")
    with pytest.raises(WrongTypeError, match="expected a text"):
        seam(CHAT, "a", b"b")
    with pytest.raises(SettingsError, match="surrogate"):
        seam(ticore.load_tokenizer("tiny-en"), "a", "\ud800")
    prefix = PrefixTokenizer(CHAT, "ab")
    with pytest.raises(SettingsError, match="ids with a text"):
        prefix.append_ids([1, 6])
    assert prefix.ids == (3,)


def test_added_tokens_are_found_from_the_first_certain_place_on():
    assert _leftmost_longest([(0, 2), (0, 3), (2, 5), (3, 4)], 0) == [(0, 3), (3, 4)]
    assert _first_apart([(0, 3), (2, 5), (5, 8)], 1) == 5
