"""Splits where characters change from one set to another, against UnicodeScripts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import UnicodeScripts

from ticore.consistency._tokenizer_rules.pretokenizers import Splitter, splitter_for
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Split
from ticore_tokenizers._scripts import split_at_scripts

LETTERS_AND_DIGITS = Split("[a-z]|[0-9]", "on_change")

# Latin, Common, Cyrillic, Han, Inherited, two that have no script, and one newer than the library.
texts = st.text("ab ,1\nдж中ーカ\u0301\u0378\ue000\U0001faf0") | st.text()


def parts(splitter, text):
    ends = [0, *splitter.ends(text)]
    return [text[a:b] for a, b in pairwise(ends)]


@given(texts)
@example("a b, да")
@example("  a")
@example(" ")
def test_parts_are_those_of_the_library_and_what_it_drops(text):
    splitter = splitter_for((split_at_scripts(),))
    library = [part for part, _ in UnicodeScripts().pre_tokenize_str(text)]
    found = parts(splitter, text)
    dropped = found[:1] if text and splitter.drops_first(text[0]) else []
    assert found == [*dropped, *library]
    assert all(map(splitter.drops_first, "".join(dropped)))


def test_a_part_begins_where_a_character_lies_in_another_set_than_the_last_that_lay_in_any():
    splitter = Splitter((LETTERS_AND_DIGITS,))
    assert parts(splitter, "a b1 2c") == ["a b", "1 2", "c"]
    assert parts(splitter, " a") == [" ", "a"]
    assert (splitter.drops_beginnings, splitter.drops_first(" "), splitter.drops_first("1")) == (
        (True, True, False)
    )


@pytest.mark.parametrize(
    "steps",
    [
        (Split("[a-z]+|[0-9]", "on_change"),),
        (Split("[a-z]|[0-9]", "on_change", inverted=True),),
    ],
    ids=["no choice of sets", "inverted"],
)
def test_other_changes_are_refused(steps):
    with pytest.raises(Unsupported, match="where characters change"):
        Splitter(steps)


def test_after_another_step_beginnings_of_parts_are_dropped():
    after, first = Splitter((Split(" "), LETTERS_AND_DIGITS)), Splitter((LETTERS_AND_DIGITS,))
    assert (after.drops_beginnings, after.drops_beginnings_of_parts) == (False, True)
    assert (first.drops_beginnings, first.drops_beginnings_of_parts) == (True, False)
    assert parts(after, "a b1") == ["a", " ", "b", "1"]
