"""Texts that overlap, against all texts that are short enough to be listed."""

from __future__ import annotations

from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from ticore._support.overlaps import may_overlap, overlaps_itself

texts = st.text("ab", min_size=1, max_size=3)


def share_characters(first: str, second: str) -> bool:
    """Whether some text holds both, at places that are not apart."""
    longest = len(first) + len(second) - 1
    listed = (
        "".join(letters) for n in range(1, longest + 1) for letters in product("ab", repeat=n)
    )
    return any(
        max(a, b) < min(a + len(first), b + len(second))
        for text in listed
        for a in range(len(text))
        for b in range(len(text))
        if text.startswith(first, a) and text.startswith(second, b)
    )


@given(st.lists(texts, min_size=1, max_size=2), st.lists(texts, max_size=2))
@example(["ab"], ["ba"])
@example(["aab"], ["a"])
@example(["aa"], ["bb"])
def test_texts_overlap_if_a_longer_text_holds_both_in_one_place(some, others):
    expected = any(share_characters(a, b) for a, b in product(some, others))
    assert may_overlap(some, others) == expected


@given(texts)
@example("aa")
@example("aba")
@example("ab")
def test_a_text_overlaps_itself_if_it_stands_at_two_places_of_a_longer_one(text):
    longer = ("".join(letters) for n in range(6) for letters in product("ab", repeat=n))
    places = ([at for at in range(len(each)) if each.startswith(text, at)] for each in longer)
    expected = any(0 < b - a < len(text) for found in places for a in found for b in found)
    assert overlaps_itself(text) == expected
