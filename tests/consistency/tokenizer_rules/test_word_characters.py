r"""What is said of characters of words, against the library that looks for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models

from ticore.consistency._tokenizer_rules.word_characters import begins_word, ends_word, is_word

# Letters and signs of all kinds; none that is newer than the library's Unicode.
CHARACTERS = "aZ_0 \n.<é\u0301中ーд²½\u0660\u200d‿🙂\U0001faf0"


def test_characters_that_are_known_are_those_of_a_word():
    """The library finds a token with the flag single_word where no character of a word is."""
    library = Tokenizer(models.BPE())
    library.add_tokens([AddedToken("<m>", single_word=True)])
    codes = (
        *range(0x3400),
        *range(0xA000, 0xAC00),
        *range(0xF900, 0x13000),
        *range(0x1D000, 0x20000),
    )
    known = {c: answer for c in map(chr, codes) if (answer := is_word(c)) is not None}
    assert sum(known.values()) > 15_000
    assert len(known) - sum(known.values()) > 5_000
    found = library.encode_batch([character + "<m>" for character in known])
    assert {c: not each.ids for c, each in zip(known, found, strict=True)} == known


@given(st.text(CHARACTERS, max_size=3), st.text(CHARACTERS, min_size=1, max_size=1))
def test_the_first_and_the_last_character_are_looked_at(text, character):
    assert begins_word((character + text).encode()) == is_word(character)
    assert ends_word((text + character).encode()) == is_word(character)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", None),
        (b"\xc3", None),  # letters, and the signs of multiplication and division
        (b"\xe5", True),  # Chinese characters
        (b"\xe3\x81", True),  # kana
        (b"\xe3\x82", None),  # kana, and a hyphen among them
        (b"\x80", None),
        (b"\xff", None),
    ],
)
def test_of_an_unfinished_character_is_known_what_all_have_in_common(data, expected):
    assert begins_word(data) == expected
    assert ends_word(data) is None
