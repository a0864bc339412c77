"""Every character is visible, has no effect on a terminal, and can be encoded."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore._support.visible import visible, visible_token

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates, too


@given(text=any_text)
def test_visible_shows_every_character(text):
    shown = visible(text)
    assert shown.isprintable()
    assert shown == visible(shown)
    shown.encode()


@given(data=st.binary() | st.text().map(str.encode))
def test_visible_token_shows_every_token(data):
    shown = visible_token(data)
    assert shown.isprintable()
    assert " " not in shown
    assert not unicodedata.category(shown[0]).startswith("M")


@given(text=st.text(st.sampled_from(" \\n␣∅\n\u2423x<0>\ufe0f"), min_size=1))
def test_visible_shows_different_texts_differently(text):
    """Escapes are Python's, so unescaping gives the text."""
    source = visible_token(text.encode()).replace("␣", " ")
    assert source.encode("ascii", "backslashreplace").decode("unicode_escape") == text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "∅"),
        (b" a  ", "␣a␣␣"),
        ("日本".encode(), "日本"),
        ("日".encode()[:2], "<0xE6><0x97>"),
        (b"a\x80" + "é".encode() + b"\xff", "a<0x80>é<0xFF>"),
        (b"\xed\xa0\x80", "<0xED><0xA0><0x80>"),  # a surrogate, which is not valid UTF-8
        (b"\0\t\r\n\x1b[2J", r"\x00\t\r\n\x1b[2J"),
        ("\u2028\u202e\u200d\u00a0\u3000".encode(), r"\u2028\u202e\u200d\xa0\u3000"),
        ("❤\ufe0f\u3164".encode(), r"❤\ufe0f\u3164"),
        ("\u0301e\u0301".encode(), "◌\u0301e\u0301"),
        (rb"\n", r"\\n"),
        ("∅␣".encode(), r"\u2205\u2423"),
    ],
)
def test_visible_token_equals_examples(data, shown):
    assert visible_token(data) == shown


def test_visible_leaves_characters_in_keep_alone():
    assert visible("a b\n\r\\", keep="\n") == "a b\n\\r\\"


def test_visible_keeps_what_is_asked_for():
    assert visible("né ☃ 日") == "né ☃ 日"
    assert visible("a\n\x1b\u202e\udcff\ufe0f", keep="\n") == "a\n\\x1b\\u202e\\udcff\\ufe0f"
