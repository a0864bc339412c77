"""What a token behind a tail does to its parts, on shapes worked out by hand.

Letters are all of one kind here, so that a text is its own shape.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consistency.random_bpe import PATTERNS
from ticore.consistency.bpe.shapes import shapes_of
from ticore.consistency.bpe.splits import (
    END,
    Alternative,
    Group,
    Meetings,
    Tail,
    Verdict,
    decide,
)
from ticore.consistency.patterns import Splitter

GPT2, CL100K, O200K = (Splitter(PATTERNS[name]) for name in ("gpt2", "cl100k", "o200k"))
NO, YES, IF_APART = Verdict.NO, Verdict.YES, Verdict.IF_APART


def tail(*tokens, apart=True, alone=(), replaced=()):
    """The tail of these tokens, which all stay apart or all do not."""
    marks, at = [], 0
    for token in tokens:
        at += len(token)
        marks.append(at)
    return Tail(
        "".join(tokens),
        tuple(marks),
        (apart,) * (len(marks) - 1),
        tuple(token in alone for token in tokens),
        frozenset(replaced),
    )


def token(text, following="", joins=(), alone=False):
    return Group((Alternative(text + following, len(text), frozenset(joins)),), alone)


@pytest.mark.parametrize(
    ("splitter", "before", "group", "verdict"),
    [
        # A part of its own, or one with what stands before.
        (GPT2, tail(), token("a"), YES),
        (GPT2, tail("a"), token(" a"), YES),
        (GPT2, tail("a"), token("a"), IF_APART),
        (GPT2, tail("a"), token("."), YES),
        # A boundary inside the token, or inside one before.
        (GPT2, tail("a"), token("a "), NO),
        (GPT2, tail(), token("a."), NO),
        (GPT2, tail("  "), token("a"), NO),
        (GPT2, tail(" ", " "), token("a"), IF_APART),
        (GPT2, tail("a", "'"), token("s"), IF_APART),
        (GPT2, tail("a", ".'"), token("s"), YES),
        (GPT2, tail("a", "'"), token("ss"), NO),
        (CL100K, tail("a", "'"), token("S"), IF_APART),
        (CL100K, tail("."), token("a"), IF_APART),
        (CL100K, tail(".", "."), token("a"), YES),
        (O200K, tail("a", "'"), token("s"), IF_APART),
        # A boundary that vanishes needs tokens that stay apart.
        (GPT2, tail(" ", " ", apart=False), token(" "), NO),
        (GPT2, tail(" ", " ", apart=False), token("a"), IF_APART),
        (GPT2, tail(" ", " "), token(" "), IF_APART),
        # What can only be a part of its own.
        (GPT2, tail("a", alone=["a"]), token("a"), NO),
        (GPT2, tail("a", alone=["a"]), token(" a"), YES),
        (GPT2, tail("a"), token("a", alone=True), NO),
        (GPT2, tail("a"), token(" a", alone=True), YES),
        # A list that as a part of its own is another token.
        (GPT2, tail("a", "b", replaced=[(0, 2)]), token(" a"), NO),
        (GPT2, tail("a", "b", replaced=[(0, 2)]), token("c"), IF_APART),
        # What may follow the token: a character of it shares its part, or does not.
        (GPT2, tail(), token("  ", "a"), NO),
        (GPT2, tail("a"), token("\n", "\n", joins=[1]), YES),
        (CL100K, tail(), token(" ", "a", joins=[1]), YES),
        (CL100K, tail(), token(" ", "a"), NO),
        (CL100K, tail(), token(" ", "a", joins=[1], alone=True), NO),
    ],
)
def test_verdicts(splitter, before, group, verdict):
    assert decide(splitter, before, group) is verdict
    groups = [token("a"), group]
    shapes = shapes_of(splitter.pattern)
    found = Meetings(shapes, splitter, before.shape, groups).verdicts(before)
    assert found.tolist() == [decide(splitter, before, other) for other in groups]


@pytest.mark.parametrize(
    ("before", "verdict"),
    [
        (tail(), YES),
        (tail("a", "b"), YES),
        (tail("a", "b", apart=False), NO),
        (tail("a", "b", replaced=[(0, 2)]), NO),
        (tail("a", "b", alone=["b"]), NO),
        (tail("a", " b", apart=False), YES),
        (tail("a", " b", alone=[" b"]), YES),
        (tail("a "), NO),
        (tail(" ", " ", "a"), YES),
    ],
)
def test_whether_a_text_may_end(before, verdict):
    assert decide(GPT2, before, END) is verdict


def test_the_best_of_several_alternatives_counts():
    no, if_apart, yes = token("a "), token("a"), token(" a")
    for groups, verdict in [
        ((no, if_apart), IF_APART),
        ((if_apart, yes), YES),
        ((no, no), NO),
        ((), NO),
    ]:
        together = Group(tuple(group.alternatives[0] for group in groups))
        assert decide(GPT2, tail("a"), together) is verdict


@pytest.mark.parametrize(
    ("shape", "near"), [("a", False), ("'", True), ("'a", True), ("'ab", False), ("", False)]
)
def test_an_apostrophe_is_near(shape, near):
    assert Tail(shape).near_apostrophe == near


@pytest.mark.parametrize("name", sorted(PATTERNS))
@given(st.data())
def test_all_groups_at_once_are_decided_as_each_by_itself(name, data):
    splitter, shapes = Splitter(PATTERNS[name]), shapes_of(PATTERNS[name])
    some = st.text("aAZ1 \n\t.'s/\u0301\u3042", max_size=5).map(shapes.shape)
    pieces = data.draw(st.lists(some.filter(bool), max_size=3))
    flags = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    before = tail(*pieces, apart=flags[0], alone=pieces[:1] if flags[1] else ())
    drawn = data.draw(
        st.lists(st.tuples(some.filter(bool), some, st.booleans()), min_size=1, max_size=8)
    )
    groups = [
        token(own, following, joins=range(1, len(following) + 1), alone=alone)
        for own, following, alone in drawn
    ] + [Group(undecided=True)]
    found = Meetings(shapes, splitter, before.shape, groups).verdicts(before)
    assert found.tolist() == [decide(splitter, before, group) for group in groups]
