"""One wrong letter is undone where a token that could have been written then fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.steganography._typos import MOST_TYPOS, typos

SENT = "and the little house"


@pytest.mark.parametrize(
    ("changed", "what", "at"),
    [
        ("and the lixtle house", "a letter that was replaced", 10),
        ("and the litle house", "a letter that was lost", 11),
        ("and the litttle house", "a letter that was added", 12),
        ("and the litxtle house", "a letter that was added", 11),
        ("and the litlte house", "two letters that were exchanged", 11),
        ("and the qittle house", "a letter that was replaced", 8),
    ],
)
def test_letter_is_undone_at_the_step_where_it_was_read(changed: str, what: str, at: int) -> None:
    tokens = [" house", " other", " l", " little", " lit", " the"]
    found = typos(changed, [(len(changed) - 6, [" house"]), (7, tokens), (3, [" the"])])
    assert [(repair.what, repair.at) for repair in found if repair.text == SENT] == [(what, at)]
    assert found[0].text == SENT  # the longest token that fits


@pytest.mark.parametrize(
    "changed", ["and the little, house", "and the li tle house", "and the", ""]
)
def test_what_is_no_letter_is_left_to_other_edits(changed: str) -> None:
    assert typos(changed, [(7, [" little", " house", ",", " "])][: len(changed)]) == []


texts = st.text("ab c,家", max_size=20)


@given(texts, st.lists(st.tuples(st.integers(0, 20), st.lists(texts, max_size=20)), max_size=5))
def test_typos_are_few_and_one_letter_away(text: str, steps: list[tuple[int, list[str]]]) -> None:
    found = typos(text, steps)
    assert len(found) <= MOST_TYPOS
    assert len({text, *(repair.text for repair in found)}) == len(found) + 1
    for repair in found:
        assert repair.text[: repair.at] == text[: repair.at]
        assert abs(len(repair.text) - len(text)) <= 1
        assert sorted(repair.text) == sorted(text) or "exchanged" not in repair.what
        fits = [
            token
            for at, tokens in steps
            for token in tokens
            if repair.text.startswith(token, at) and not text.startswith(token, at)
        ]
        assert fits
