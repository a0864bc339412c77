"""Shapes, and what is read off them."""

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.support.pretokenizers import PRETOKENIZERS
from tests.support.random_bpe import ALPHABETS, CHARACTERS, PATTERNS
from ticore.consistency._engines.bpe.character_classes import (
    AMBIGUOUS,
    Shapes,
    shapes_for,
)
from ticore.consistency._tokenizer_rules.characters import completions
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

any_pretokenizer = pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)
texts = st.sampled_from([*ALPHABETS, CHARACTERS, "'sS tTlLvVeErRmMdD\u017f"]).flatmap(
    lambda letters: st.text(letters, max_size=6)
) | st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=4)
runs = st.lists(
    st.builds(lambda c, n: c * n, st.sampled_from("aA '.\n\r/1²\t\u3000\u0301"), st.integers(1, 9)),
    max_size=4,
).map("".join)


@any_pretokenizer
@given(text=texts)
@example(text="'ll'LL'lx")
@example(text="x're'r e")
@example(text="A'S'")
@example(text="''s")
@example(text="a'!b")
def test_shape_is_split_where_its_text_is_split(steps, text):
    shape = shapes_for(steps).shape(text)
    assert len(shape) == len(text)
    if AMBIGUOUS not in shape:
        ends = splitter_for(steps).ends
        assert list(ends(shape)) == list(ends(text))


@any_pretokenizer
@given(text=texts, more=texts)
@example(text="a'", more="s")
@example(text="a'l", more="l")
@example(text="a'r", more="e'r")
@example(text="'x", more="ll")
def test_shapes_can_be_put_together_when_a_near_apostrophe_is_told(steps, text, more):
    shapes, ends = shapes_for(steps), splitter_for(steps).ends
    before = shapes.shape(text)
    joined = before + shapes.shape(more, near_apostrophe=shapes.is_near_apostrophe(before))
    if AMBIGUOUS not in joined:
        assert list(ends(joined)) == list(ends(text + more))


@any_pretokenizer
@given(text=texts)
def test_shape_is_ambiguous_where_the_character_is(steps, text):
    shape = shapes_for(steps).shape(text)
    is_ambiguous = splitter_for(steps).classes.is_ambiguous
    assert [c == AMBIGUOUS for c in shape] == [is_ambiguous(c) for c in text]


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(pattern,) for pattern in PATTERNS.values()], ids=PATTERNS)
def test_shape_maps_all_characters_to_a_few(steps):
    shapes = shapes_for(steps)
    assert len({shapes.shape(chr(code)) for code in range(0xD800)}) < 16
    words = ("house", "tree", "Straße", "日本", "Привет")
    assert len({shapes.shape(word.lower()[:2]) for word in words}) <= 2


@any_pretokenizer
@pytest.mark.parametrize("unfinished", [b"\xc3", b"\xc5", b"\xe3", b"\xe3\x80", b"\xf0\x9f\x98"])
def test_completions_by_shape_have_all_characters_that_begin_so(steps, unfinished):
    shapes = Shapes(splitter_for(steps))
    expected = {}
    for character in completions(unfinished):
        expected.setdefault(shapes.shape(character), []).append(character.encode())
    assert shapes.completions_by_shape(unfinished) == expected


@pytest.mark.slow
@any_pretokenizer
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(before=texts, text=texts, after=texts)
def test_is_always_split_holds_whatever_stands_around_the_text(steps, before, text, after):
    shapes = shapes_for(steps)
    shape = shapes.shape(text, near_apostrophe=shapes.is_near_apostrophe(shapes.shape(before)))
    assume(AMBIGUOUS not in shape and shapes.is_always_split(shape))
    start, end = len(before), len(before) + len(text)
    assume(not any(map(splitter_for(steps).classes.is_ambiguous, before + after)))
    assert any(start < at < end for at in splitter_for(steps).ends(before + text + after))


@pytest.mark.parametrize(
    ("name", "text", "is_split"),
    [
        ("gpt2", "a b", True),
        ("gpt2", " ab", False),
        ("gpt2", "ab.", True),
        ("gpt2", "'ll", False),
        ("gpt2", "'LL", True),
        ("cl100k", "'LL", False),
        ("cl100k", ".a", False),
        ("qwen2", "12", True),
        ("cl100k", "12", False),
        ("o200k", "a's", False),
        ("o200k", "A'lL", False),
        ("o200k", "lL", True),
        ("o200k", "aB", True),
        ("o200k", "!/\n", False),
    ],
)
def test_is_always_split_on_texts_worked_out_by_hand(name, text, is_split):
    shapes = shapes_for(PRETOKENIZERS[name])
    assert shapes.is_always_split(shapes.shape(text)) == is_split


@pytest.mark.slow
@any_pretokenizer
@given(text=runs)
@example(text=" " * 9 + "a")
@example(text="a" + "\n" * 9 + " " * 9 + "\n")
@example(text="1" * 9)
@example(text="²" * 9)
@example(text="'" * 9 + "s")
@example(text="A" * 9 + "a")
def test_shorten_runs_moves_no_boundary(steps, text):
    ends = splitter_for(steps).ends
    shape = shapes_for(steps).shape(text)
    short, moved = shapes_for(steps).shorten_runs(shape, range(len(shape) + 1))
    assert [moved[at] for at in ends(shape)] == list(ends(short))


@given(steps=st.sampled_from(list(PRETOKENIZERS.values())), text=runs, more=texts)
@example(steps=PRETOKENIZERS["gpt2"], text="a" + " " * 9 + "a" * 9, more=" a")
@example(steps=PRETOKENIZERS["gpt2"], text="!" * 9 + "a" * 9, more="'s")
def test_settled_boundaries_of_long_runs_are_those_of_short_ones(steps, text, more):
    shape = shapes_for(steps).shape(text + more)
    if AMBIGUOUS not in shape:
        assert shapes_for(steps).settled(shape) == splitter_for(steps).settled_in_shape(shape)


@pytest.mark.parametrize(
    ("shape", "offsets", "short", "moved"),
    [
        ("AAAA", [1, 4], "AAAA", [1, 4]),
        ("!AAAAAA!", [1, 2, 3, 4, 5, 7, 8], "!AAAA!", [1, -1, -1, -1, 3, 5, 6]),
        ("      \n\n\n\n\n\n", [6, 12], "    \n\n\n\n", [4, 8]),
        ("0000000", [3], "0000000", [3]),
    ],
)
def test_shorten_runs_on_shapes_worked_out_by_hand(shape, offsets, short, moved):
    assert shapes_for(PRETOKENIZERS["cl100k"]).shorten_runs(shape, offsets) == (short, moved)


def test_shapes_for_gives_one_object_per_expression():
    assert shapes_for(PRETOKENIZERS["gpt2"]) is shapes_for(PRETOKENIZERS["gpt2"])


@pytest.mark.parametrize("name", sorted(PATTERNS))
@given(
    text=st.text("aAあ\u0301!/\n \t's1re", max_size=6),
    more=st.text("aAあ\u0301!/\n \t's1rel", max_size=6),
)
def test_continuations_to_try_show_every_boundary_that_a_text_may_get(name, text, more):
    shapes, splitter = shapes_for(PRETOKENIZERS[name]), splitter_for(PRETOKENIZERS[name])
    shape = shapes.shape(text)
    shown = {end for other in shapes.continuations_to_try for end in splitter.ends(shape + other)}
    assert shown.issuperset(end for end in splitter.ends(text + more) if end < len(text))
