"""Where added tokens with the flag single_word occur."""

from __future__ import annotations

import pytest

from ticore.consistency._tokenizer_rules.single_word_texts import ADDED, SingleWordTexts
from ticore.consistency._unsupported import Unsupported


def texts(*found: str, mode="prefix", lasting=()):
    return SingleWordTexts(found, lasting, mode)


@pytest.mark.parametrize(
    ("before", "token", "expected"),
    [
        ("", "<m>", ["<m>"]),
        (".<", "m>", ["<m>"]),
        ("a<", "m>", []),
        ("", "a<m>", []),  # inside a word, whatever follows
        ("", "<m>a", []),
        ("a", "<m>", []),  # beside a word that another token spells
        ("a.", "<m>", ["<m>"]),
        ("<m>", " ", []),  # not of the last token
        ("", "é<m> <m>", ["<m>"]),
        ("", "\u0301<m>", []),  # a mark is of a word
        ("", "\u0378<m>", ["<m>"]),  # not assigned yet
    ],
)
def test_occurrences_are_those_of_the_last_token(before, token, expected):
    found = texts("<m>").occurrences((before + token).encode(), len(before.encode()))
    assert [place.text.decode() for place in found] == expected


@pytest.mark.parametrize(("before", "expected"), [("", True), ("a.", True), ("\u0378", False)])
def test_it_is_sure_that_no_word_stands_before(before, expected):
    (place,) = texts("<m>").occurrences((before + "<m>").encode(), len(before.encode()))
    assert place.is_sure == expected


def test_what_stands_beside_an_added_token_is_not_known():
    (place,) = texts("<m>").occurrences(b"b" + ADDED + b"<m>", 2)
    assert not place.is_sure


def test_one_that_lasts_occurs_inside_a_word_too():
    (place,) = texts("<m>", lasting=["<m>"]).occurrences(b"a<m>", 0)
    assert place.text == b"<m>"


@pytest.mark.parametrize(
    ("text", "mode", "end", "expected"),
    [
        ("é", "prefix", b"\xc3", False),
        ("é", "open", b"\xc3", True),
        ("b中", "open", "b中".encode()[:-1], True),
        ("b.", "open", b"b", False),
        ("b.", "viable", b"b", True),
        ("x \n", "viable", b"x ", True),
        ("x \n", "viable", b"x", True),
        ("x\u30001", "viable", "x\u3000".encode()[:-1], True),
    ],
)
def test_what_follows_may_complete_one(text, mode, end, expected):
    assert texts(text, mode=mode).may_change(end) == expected


def test_one_that_is_all_that_follows_is_refused():
    with pytest.raises(Unsupported, match="may be all that a text goes on with"):
        texts(".", mode="viable")
    texts(".", mode="open")


def test_beginnings_and_what_completes_them():
    some = texts("<m>", "<n.", mode="viable")
    begun = some.begun_in(b"a<")
    assert begun == (b"<",)
    assert set(some.rests(begun)) == {b"m>", b"n."}
    assert set(some.rests_of_almost(begun)) == {b"n"}  # a full stop may follow
    assert some.begun_in(b"<m>") == ()


@pytest.mark.parametrize(("text", "expected"), [("<", True), ("<m>a", True), ("a<m>", False)])
def test_one_may_begin_where_a_text_begins(text, expected):
    assert texts("<m>").may_begin(text.encode()) == expected
