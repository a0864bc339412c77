"""The verdict on a token after a tail, on shapes worked out by hand.

All letters are of one class here, so a text is its own shape.
"""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pretokenizers import PRETOKENIZERS
from tests.support.random_bpe import PATTERNS
from ticore.consistency._engines.bpe.boundary_effects import (
    END_OF_TEXT,
    FollowVerdict,
    GroupIndex,
    Lookahead,
    Tail,
    TailVerdicts,
    TokenGroup,
    decide,
)
from ticore.consistency._engines.bpe.character_classes import shapes_for
from ticore.consistency._tokenizer_rules.pretokenizers import Splitter, splitter_for

GPT2, CL100K, O200K = (Splitter(PATTERNS[name]) for name in ("gpt2", "cl100k", "o200k"))
NO, YES, IF_UNMERGED = FollowVerdict.NO, FollowVerdict.YES, FollowVerdict.IF_UNMERGED


def tail(*tokens, unmerged=True, whole_part_only=(), replaced=()):
    """The tail of these tokens, in which all neighbours merge or none do."""
    ends, at = [], 0
    for token in tokens:
        at += len(token)
        ends.append(at)
    return Tail(
        "".join(tokens),
        tuple(ends),
        (unmerged,) * (len(ends) - 1),
        tuple(token in whole_part_only for token in tokens),
        frozenset(replaced),
    )


def token(text, following="", may_end_after=(), whole_part_only=False):
    lookahead = Lookahead(text + following, len(text), frozenset(may_end_after))
    return TokenGroup((lookahead,), whole_part_only)


@pytest.mark.parametrize(
    ("splitter", "before", "group", "verdict"),
    [
        # A part of its own, or one with what stands before.
        (GPT2, tail(), token("a"), YES),
        (GPT2, tail("a"), token(" a"), YES),
        (GPT2, tail("a"), token("a"), IF_UNMERGED),
        (GPT2, tail("a"), token("."), YES),
        # A boundary inside the token, or inside one before.
        (GPT2, tail("a"), token("a "), NO),
        (GPT2, tail(), token("a."), NO),
        (GPT2, tail("  "), token("a"), NO),
        (GPT2, tail(" ", " "), token("a"), IF_UNMERGED),
        (GPT2, tail("a", "'"), token("s"), IF_UNMERGED),
        (GPT2, tail("a", ".'"), token("s"), YES),
        (GPT2, tail("a", "'"), token("ss"), NO),
        (CL100K, tail("a", "'"), token("S"), IF_UNMERGED),
        (CL100K, tail("."), token("a"), IF_UNMERGED),
        (CL100K, tail(".", "."), token("a"), YES),
        (O200K, tail("a", "'"), token("s"), IF_UNMERGED),
        # A boundary that vanishes needs tokens that do not merge.
        (GPT2, tail(" ", " ", unmerged=False), token(" "), NO),
        (GPT2, tail(" ", " ", unmerged=False), token("a"), IF_UNMERGED),
        (GPT2, tail(" ", " "), token(" "), IF_UNMERGED),
        # What comes only as a part of its own.
        (GPT2, tail("a", whole_part_only=["a"]), token("a"), NO),
        (GPT2, tail("a", whole_part_only=["a"]), token(" a"), YES),
        (GPT2, tail("a"), token("a", whole_part_only=True), NO),
        (GPT2, tail("a"), token(" a", whole_part_only=True), YES),
        # A list for which, as a part of its own, another token stands.
        (GPT2, tail("a", "b", replaced=[(0, 2)]), token(" a"), NO),
        (GPT2, tail("a", "b", replaced=[(0, 2)]), token("c"), IF_UNMERGED),
        # What may follow the token: the part ends in it, or not.
        (GPT2, tail(), token("  ", "a"), NO),
        (GPT2, tail("a"), token("\n", "\n", may_end_after=[1]), YES),
        (CL100K, tail(), token(" ", "a", may_end_after=[1]), YES),
        (CL100K, tail(), token(" ", "a"), NO),
        (CL100K, tail(), token(" ", "a", may_end_after=[1], whole_part_only=True), NO),
    ],
)
def test_decide_and_tail_verdicts_on_tails_worked_out_by_hand(splitter, before, group, verdict):
    assert decide(splitter, before, group) is verdict
    groups = [token("a"), group]
    found = TailVerdicts(before.shape, GroupIndex(splitter, groups)).of(before)
    assert found.tolist() == [decide(splitter, before, other) for other in groups]


@pytest.mark.parametrize(
    ("text", "verdict"), [("s", FollowVerdict.YES), ("'", IF_UNMERGED), ("s ", NO)]
)
def test_decide_gives_the_verdicts_of_the_example_of_its_docstring(text, verdict):
    assert decide(GPT2, tail("a", " '"), token(text)) is verdict


@pytest.mark.parametrize(
    ("shape", "beginning", "cut"), [("it", "s", 0), ("it'", "s", 2), ("it'", " ", 3)]
)
def test_group_index_cuts_a_tail_as_in_its_docstring(shape, beginning, cut):
    assert GroupIndex(GPT2, [])._settled(shape, beginning)[0] == cut


@pytest.mark.parametrize(
    ("before", "verdict"),
    [
        (tail(), YES),
        (tail("a", "b"), YES),
        (tail("a", "b", unmerged=False), NO),
        (tail("a", "b", replaced=[(0, 2)]), NO),
        (tail("a", "b", whole_part_only=["b"]), NO),
        (tail("a", " b", unmerged=False), YES),
        (tail("a", " b", whole_part_only=[" b"]), YES),
        (tail("a "), NO),
        (tail(" ", " ", "a"), YES),
    ],
)
def test_decide_says_whether_the_text_may_end_when_no_token_follows(before, verdict):
    assert decide(GPT2, before, END_OF_TEXT) is verdict


def test_decide_takes_the_highest_verdict_of_several_lookaheads():
    no, if_unmerged, yes = token("a "), token("a"), token(" a")
    for groups, verdict in [
        ((no, if_unmerged), IF_UNMERGED),
        ((if_unmerged, yes), YES),
        ((no, no), NO),
        ((), NO),
    ]:
        together = TokenGroup(tuple(group.lookaheads[0] for group in groups))
        assert decide(GPT2, tail("a"), together) is verdict


@pytest.mark.parametrize(
    ("shape", "near"), [("a", False), ("'", True), ("'a", True), ("'ab", False), ("", False)]
)
def test_near_apostrophe_holds_for_the_last_two_characters(shape, near):
    assert shapes_for((PATTERNS["gpt2"],)).is_near_apostrophe(shape) == near


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PRETOKENIZERS))
@given(st.data())
def test_tail_verdicts_are_those_of_decide_for_each_group(name, data):
    splitter = splitter_for(PRETOKENIZERS[name])
    shapes = shapes_for(PRETOKENIZERS[name])
    some = st.text("aAZ1 \n\t.'s/\u0301\u3042", max_size=5).map(shapes.shape)
    pieces = data.draw(st.lists(some.filter(bool), max_size=3))
    flags = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    first_alone = pieces[:1] if flags[1] else ()
    drawn = data.draw(
        st.lists(st.tuples(some.filter(bool), some, st.booleans()), min_size=1, max_size=8)
    )
    groups = [
        token(own, following, range(1, len(following) + 1), whole_part_only)
        for own, following, whole_part_only in drawn
    ] + [TokenGroup(undecided=True)]
    index = GroupIndex(splitter, groups)
    for first in range(len(pieces) + 1):  # with what is known of ends that were seen before
        before = tail(*pieces[first:], unmerged=flags[0], whole_part_only=first_alone)
        found = TailVerdicts(before.shape, index).of(before)
        assert found.tolist() == [decide(splitter, before, group) for group in groups]


@pytest.mark.parametrize("name", ["gpt2", "o200k", "deepseek-v3"])
def test_the_same_tokens_may_follow_tails_of_one_kind(name):
    splitter, draw = splitter_for(PRETOKENIZERS[name]), random.Random(name)
    members = splitter.members_with_letters

    def piece(few=members):
        return "".join(draw.choices(few, k=draw.randint(1, 3)))

    groups = [token(piece(), piece(), {1}, draw.random() < 0.2) for _ in range(20)]
    index = GroupIndex(splitter, groups)
    of_kind = {}
    for _ in range(150):
        few = draw.sample(members, min(len(members), 3))
        pieces = [piece(few) for _ in range(draw.randint(0, 3))]
        before = tail(*pieces)
        before = replace(
            before,
            unmerged=tuple(draw.random() < 0.7 for _ in before.unmerged),
            whole_part_only=tuple(draw.random() < 0.2 for _ in pieces),
            replaced=frozenset({(0, len(before.shape))} if draw.random() < 0.2 else ()),
        )
        kind = TailVerdicts(before.shape, index).kind(before)
        found = [decide(splitter, before, group) for group in groups]
        assert of_kind.setdefault(kind, found) == found, before
    assert len(of_kind) < 100
