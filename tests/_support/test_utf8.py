"""Which bytes are whole characters, and which are the beginning of one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticore._support.utf8 import (
    character_length,
    completed_code_points,
    is_complete,
    is_continuation_byte,
    may_begin_text,
    missing_bytes,
    require_unicode,
    unfinished_suffix,
)
from ticore.errors import SettingsError, WrongTypeError

# The beginnings of all characters: one of 64 neighbours suffices, which differ in the last byte.
UNFINISHED = {
    chr(code).encode()[:n]
    for code in range(0x80, 0x110000, 0x40)
    if not 0xD800 <= code < 0xE000
    for n in range(1, len(chr(code).encode()))
}

EDGES = (
    "né".encode()[:-1],
    "n😀".encode()[:-1],
    "n😀".encode(),
    b"\xc1",
    b"\xe0\x9f",
    b"\xed\xa0",
    b"\xf0\x8f",
    b"\xf4\x90",
    b"\xf5",
    b"\x80\x80",
    b"",
)
pieces = st.binary(max_size=6) | st.text(max_size=3).map(lambda text: text.encode()[:-1])


def with_edges(test):
    """The test, with all of EDGES among its examples."""
    for data in EDGES:
        test = example(data=data)(test)
    return test


@with_edges
@given(data=pieces)
def test_unfinished_suffix_is_the_end_that_some_character_begins_with(data):
    ends = [data[-n:] for n in range(1, 4) if n <= len(data)]
    assert unfinished_suffix(data) == next((end for end in ends if end in UNFINISHED), b"")


@with_edges
@given(data=pieces)
def test_is_complete_holds_where_python_decodes_the_bytes(data):
    assert is_complete(data) == ("\ufffd" not in data.decode(errors="replace"))


@with_edges
@given(data=pieces)
def test_may_begin_text_holds_for_whole_characters_and_the_beginning_of_one(data):
    whole = data[: len(data) - len(unfinished_suffix(data))]
    assert may_begin_text(data) == is_complete(whole)


@given(text=st.text(min_size=1, max_size=4))
def test_missing_bytes_are_those_that_were_cut_off(text):
    data = text.encode()
    length = len(text[-1].encode())
    assert length == 1 or character_length(text[-1].encode()[0]) == length
    for cut in range(1, length):
        assert missing_bytes(data[:-cut]) == cut
    assert missing_bytes(data) == 0


@pytest.mark.parametrize(
    ("data", "count"),
    [(b"", 0), (b"a", 0), ("é".encode(), 0), (b"\xc3", 1), (b"x\xe3\x81", 1), (b"\xf0", 3)],
)
def test_missing_bytes_gives_what_was_worked_out_by_hand(data, count):
    assert missing_bytes(data) == count


@given(character=st.characters(codec="utf-8"))
def test_is_continuation_byte_holds_after_the_first_byte_of_a_character(character):
    first, *others = character.encode()
    assert not is_continuation_byte(first)
    assert all(map(is_continuation_byte, others))


def test_completed_code_points_are_all_that_begin_with_a_byte():
    """The surrogates are among those of 0xED: they are code points, and no characters."""
    leads = (bytes([lead]) for lead in range(0xC2, 0xF5))
    found = [code for lead in leads for code in completed_code_points(lead)]
    assert found[: 0x110000 - 0x80] == list(range(0x80, 0x110000))


@pytest.mark.parametrize(
    "unfinished", [b"\xc3", b"\xe3\x81", b"\xe0", b"\xe0\xa4", b"\xf0\x9f\x98", b"\xf0"]
)
def test_completed_code_points_begin_with_the_given_bytes(unfinished):
    found = completed_code_points(unfinished)
    assert len(found) >= 64
    ends = [found[0] - 1, found[0], found[-1], found[-1] + 1]
    assert [chr(code).encode().startswith(unfinished) for code in ends] == [
        False,
        True,
        True,
        False,
    ]


@given(text=st.text())
def test_require_unicode_accepts_text(text):
    require_unicode(text)


@given(before=st.text(), lone=st.characters(categories=["Cs"]), after=st.text())
def test_require_unicode_names_a_lone_surrogate(before, lone, after):
    with pytest.raises(SettingsError, match=rf"U\+{ord(lone):04X} at character {len(before)}"):
        require_unicode(before + lone + after)


@pytest.mark.parametrize(
    ("found", "message"),
    [(b"a", r"found bytes; decode it first: text\.decode\(\)"), (7, "found int$")],
)
def test_require_unicode_refuses_what_is_not_a_str(found, message):
    with pytest.raises(WrongTypeError, match=message):
        require_unicode(found)
