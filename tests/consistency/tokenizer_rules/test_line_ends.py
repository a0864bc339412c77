"""Pretokenizers that split a text otherwise where a line end follows."""

import random

import pytest

from tests.support.pretokenizers import PRETOKENIZERS
from ticore.consistency._tokenizer_rules.line_ends import may_see_line_ends
from ticore.consistency._tokenizer_rules.pretokenizers import (
    CL100K,
    GPT2,
    O200K,
    QWEN2,
    WORDS,
    splitter_for,
)
from ticore.interfaces import Split

# Expressions, and a text in which a line end, or one after a space, moves a boundary.
SEEING = {
    r"[.!?]+(?=\r?\n)|[.!?]|\p{L}+|\s+": "a..",
    r"[^\s\p{L}]+[\r\n]+|[^\s\p{L}]|\p{L}+|\s+": "a..",
    r"\p{L}+(?=\s\n)|\p{L}|\s+|.": "aa",
    r"\p{L}+\s|\p{L}|.": "aa",
    r"\p{L}{2,}[^a]|\p{L}|.": "aaa",
    r".{3}|.|\n": "aa",
    r"\p{L}+$|\p{L}|.|\s": "aa",
    r"(?>\p{L}+)\s|\p{L}|.": "aa",
    r"\s+(?=a\n)|\s|a| ": "b  a",
}


def moved(steps, text):
    """Whether what `strip` removes moves a boundary in the text."""
    splitter = splitter_for(steps)
    inside = [[at for at in splitter.ends(text + more) if at < len(text)] for more in MORE]
    return inside[0] != inside[1] or inside[0] != inside[2]


MORE = ("", "\n", " \n")


@pytest.mark.parametrize("expression", SEEING)
def test_expressions_that_need_a_line_end_are_noticed(expression):
    assert may_see_line_ends((expression,))
    assert may_see_line_ends((WORDS, Split(expression)))


@pytest.mark.parametrize(("expression", "text"), SEEING.items())
def test_line_end_moves_a_boundary_in_the_example(expression, text):
    assert moved((expression,), text)


@pytest.mark.parametrize("steps", [GPT2, CL100K, QWEN2, O200K, WORDS, r"\p{N}{1,3}", r"\s+(?!\S)"])
def test_pretokenizers_of_most_models_do_not_see_line_ends(steps):
    assert not may_see_line_ends((steps,))
    assert not may_see_line_ends((r"\p{N}", steps))
    assert not may_see_line_ends(())


@pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)
def test_boundaries_stay_where_line_ends_are_not_seen(steps):
    if may_see_line_ends(steps):
        pytest.skip("it may see line ends")
    draw, members = random.Random(5), splitter_for(steps).members_with_letters
    for _ in range(150):
        few = draw.sample(members, min(len(members), 4))
        text = "".join(draw.choices(few, k=draw.randint(1, 6)))
        if not text[-1].isspace():
            assert not moved(steps, text), text


def test_most_pretokenizers_of_the_tests_do_not_see_line_ends():
    """Else the test above is of none."""
    seeing = [name for name, steps in PRETOKENIZERS.items() if may_see_line_ends(steps)]
    assert len(seeing) < len(PRETOKENIZERS) / 2, seeing
