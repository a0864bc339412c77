"""Small changes near a place: each kind is undone, and few texts are tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import TextPlace
from ticore.steganography._small_repairs import MOST_SMALL_REPAIRS, small_repairs


@pytest.mark.parametrize(
    ("sent", "changed", "at"),
    [
        ("an old, dark house", "an old dark house", 6),
        ("an old dark house", "an old, dark house", 6),
        ("an old. Dark house", "an old Dark house", 6),
        ("an old house", "an old. house", 6),
        ("an old house", "an  old house", 2),
        ("an  old house", "an old house", 3),
        ("an old house", "anold house", 2),
        ("an old house", "an\nold house", 2),
        ("an\nold house", "an old house", 2),
        ("an\n\nold house", "an\nold house", 3),
        ("an old house", "an Old house", 3),
        ('an "old" house', "an “old” house"[:3] + "“" + 'old" house', 3),
        ("an ‘old’ house", "an 'old’ house", 3),
        ("an old-time house", "an old–time house", 6),
        ("old — and dark", "old -- and dark", 4),
        ("古い家、暗い", "古い家暗い", 3),
        ("古い家暗い", "古い家。暗い", 3),
    ],
)
@pytest.mark.parametrize("later", [0, 4])
def test_change_is_undone_where_it_had_an_effect_or_a_little_before(sent, changed, at, later):
    start = min(at + later, len(changed))
    place = TextPlace(changed, start, min(start + 4, len(changed)))
    found = [repair for repair in small_repairs(place) if repair.text == sent]
    assert [abs(repair.at - at) <= 1 for repair in found] == [True]


@given(
    text=st.text("aA ,.\n'’\"-—家", max_size=60),
    start=st.integers(0, 60),
    first=st.integers(0, 60),
)
def test_edits_are_few_and_differ(text, start, first):
    place = TextPlace(text, min(start, len(text)), min(start + 3, len(text)))
    found = [repair.text for repair in small_repairs(place, first)]
    assert len(found) <= MOST_SMALL_REPAIRS
    assert len({*found, text}) == len(found) + 1
    assert all(each.startswith(text[: min(first, len(text))]) for each in found)
