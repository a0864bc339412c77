"""Texts of the channel `email` that lines are broken in."""

from __future__ import annotations

import re
from random import Random

import pytest

from ticore.channels import channel_named

EMAIL = channel_named("email")


@pytest.mark.parametrize("text", ["well-known->The", "東>京", "a>b東", "東a>b", "a>東", "- é->東>"])
def test_a_mark_where_a_line_may_begin_is_not_kept(text):
    kept = EMAIL.read(f"The The {text} ")
    assert EMAIL.leaves(kept)
    for place in re.finditer(r"(?<=-)|(?<=[東京])|(?=[東京])", kept):
        broken = f"{kept[: place.start()]}\n{kept[place.start() :]}"
        assert EMAIL.read(broken) == kept
    for change in ("wrapped lines", "format=flowed"):
        for seed in range(9):
            assert EMAIL.read(EMAIL.changes[change](kept, Random(seed))) == kept


def test_a_mark_inside_a_word_is_kept():
    assert EMAIL.leaves("true if a>b")


@pytest.mark.parametrize("text", ["あa" + ">" * 20_000, ">" * 20_000 + "あ", "あ" + "a>" * 10_000])
def test_long_runs_of_quotation_marks_are_read_at_once(text: str):
    """They took time with the square of their length: hours, for the first two."""
    email = channel_named("email")
    read = email.read(text)
    assert email.read(read) == read
