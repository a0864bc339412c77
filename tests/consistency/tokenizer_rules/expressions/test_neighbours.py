"""What is read off an expression, against what it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pretokenizers import PRETOKENIZERS
from ticore.consistency._tokenizer_rules.expressions.neighbours import (
    Contractions,
    contractions_of,
)
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

any_pretokenizer = pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)


@any_pretokenizer
@given(data=st.data())
def test_joined_has_all_pairs_that_a_part_holds(steps, data):
    splitter = splitter_for(steps)
    members = st.sampled_from(splitter.members_with_letters)
    text = data.draw(st.text(members, max_size=8))
    start = 0
    for end in splitter.ends(text):
        assert all(text[at : at + 2] in splitter.joined for at in range(start, end - 1))
        start = end


@any_pretokenizer
@given(data=st.data())
def test_a_class_that_forms_runs_is_split_near_the_ends_of_a_run_only(steps, data):
    splitter = splitter_for(steps)
    members = splitter.members_with_letters
    before, after = (data.draw(st.text(st.sampled_from(members), max_size=3)) for _ in range(2))
    for member in filter(splitter.forms_runs, members):
        if not before.endswith(member) and not after.startswith(member):
            short, long = 6, data.draw(st.integers(7, 12))
            ends = {
                length: list(splitter.ends(before + member * length + after))
                for length in (short, long)
            }
            middle = len(before) + 2
            # These are the places that `Shapes.shorten_runs` leaves out.
            inside = range(len(before) + 1, len(before) + short - 2)
            assert not any(end in inside for end in ends[short])
            assert ends[long] == [e if e < middle else e + long - short for e in ends[short]]


@pytest.mark.parametrize(
    ("expression", "contractions"),
    [
        (r"\p{L}+", Contractions()),
        (r"'s|\p{L}+", Contractions(frozenset({"s"}), frozenset({r"\x27"}), 1)),
        (r"(?i:'ll)|\p{L}", Contractions(frozenset({"[lL]"}), frozenset({r"\x27"}), 2)),
        (
            r"['’][st]e?|'",
            Contractions(frozenset({"[st]", "e"}), frozenset({r"[\x27’]"}), window=2, only=True),
        ),
        (r"['’]s?", Contractions(frozenset({"s"}), frozenset({r"[\x27’]"}), 1, only=False)),
        (r"'s|'+", Contractions(frozenset({"s"}), frozenset({r"\x27"}), 1, only=False)),
        (r"s|'t", None),
        (r"'s(?!s)", None),
        (r"\p{L}s", None),
        (r"'s+", None),
    ],
)
def test_contractions_are_letters_right_after_a_sign(expression, contractions):
    assert contractions_of(parse(expression)) == contractions
