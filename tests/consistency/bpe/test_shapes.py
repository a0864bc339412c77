"""A text and its shape are split alike."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import ALPHABETS, CHARACTERS, PATTERNS
from ticore.consistency.bpe.shapes import AMBIGUOUS, Shapes, shapes_of, shorten
from ticore.consistency.modes import completions
from ticore.consistency.patterns import Splitter, is_ambiguous

any_pattern = pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
texts = st.sampled_from([*ALPHABETS, CHARACTERS, "'sS tTlLvVeErRmMdD\u017f"]).flatmap(
    lambda letters: st.text(letters, max_size=6)
) | st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=4)
runs = st.lists(
    st.builds(lambda c, n: c * n, st.sampled_from("aA '.\n\r/1²\t\u3000\u0301"), st.integers(1, 9)),
    max_size=4,
).map("".join)


@any_pattern
@given(text=texts)
@example(text="'ll'LL'lx")
@example(text="x're'r e")
@example(text="A'S'")
@example(text="''s")
def test_a_text_and_its_shape_are_split_alike(pattern, text):
    shape = shapes_of(pattern).shape(text)
    assert len(shape) == len(text)
    if AMBIGUOUS not in shape:
        ends = Splitter(pattern).ends
        assert list(ends(shape)) == list(ends(text))


@any_pattern
@given(text=texts, more=texts)
@example(text="a'", more="s")
@example(text="a'l", more="l")
@example(text="a'r", more="e'r")
@example(text="'x", more="ll")
def test_shapes_are_joined_as_texts_are(pattern, text, more):
    """If it is said that an apostrophe is near."""
    shapes, ends = shapes_of(pattern), Splitter(pattern).ends
    before = shapes.shape(text)
    joined = before + shapes.shape(more, behind_apostrophe="'" in before[-2:])
    if AMBIGUOUS not in joined:
        assert list(ends(joined)) == list(ends(text + more))


@any_pattern
@given(text=texts)
def test_only_ambiguous_characters_have_an_ambiguous_shape(pattern, text):
    shape = shapes_of(pattern).shape(text)
    assert [c == AMBIGUOUS for c in shape] == [is_ambiguous(c) for c in text]


@any_pattern
def test_there_are_few_shapes(pattern):
    shapes = shapes_of(pattern)
    assert len({shapes.shape(chr(code)) for code in range(0xD800)}) < 16
    words = ("house", "tree", "Straße", "日本", "Привет")
    assert len({shapes.shape(word.lower()[:2]) for word in words}) <= 2


@any_pattern
@pytest.mark.parametrize("unfinished", [b"\xc3", b"\xc5", b"\xe3", b"\xe3\x80", b"\xf0\x9f\x98"])
def test_endings_are_the_shapes_of_all_characters_that_begin_so(pattern, unfinished):
    shapes = Shapes(pattern)
    expected = {}
    for character in completions(unfinished):
        expected.setdefault(shapes.shape(character), []).append(character.encode())
    assert shapes.endings(unfinished) == expected


@any_pattern
@given(before=texts, text=texts, after=texts)
def test_what_divides_is_split_whatever_stands_around_it(pattern, before, text, after):
    shapes = shapes_of(pattern)
    shape = shapes.shape(text, behind_apostrophe="'" in before[-2:])
    assume(AMBIGUOUS not in shape and shapes.divides(shape))
    start, end = len(before), len(before) + len(text)
    assume(not any(map(is_ambiguous, before + after)))
    assert any(start < at < end for at in Splitter(pattern).ends(before + text + after))


@pytest.mark.parametrize(
    ("name", "text", "divides"),
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
def test_what_divides_by_hand(name, text, divides):
    shapes = shapes_of(PATTERNS[name])
    assert shapes.divides(shapes.shape(text)) == divides


@any_pattern
@given(text=runs)
@example(text=" " * 9 + "a")
@example(text="a" + "\n" * 9 + " " * 9 + "\n")
@example(text="1" * 9)
@example(text="²" * 9)
@example(text="'" * 9 + "s")
@example(text="A" * 9 + "a")
def test_a_shape_with_shorter_runs_is_split_alike(pattern, text):
    ends = Splitter(pattern).ends
    shape = shapes_of(pattern).shape(text)
    short, moved = shorten(shape, range(len(shape) + 1))
    assert [moved[at] for at in ends(shape)] == list(ends(short))


@pytest.mark.parametrize(
    ("shape", "marks", "short", "moved"),
    [
        ("aaaa", [1, 4], "aaaa", [1, 4]),
        ("baaaaaab", [1, 2, 3, 4, 5, 7, 8], "baaaab", [1, -1, -1, -1, 3, 5, 6]),
        ("      \n\n\n\n\n\n", [6, 12], "    \n\n\n\n", [4, 8]),
        ("0000000", [3], "0000000", [3]),
    ],
)
def test_shortening_by_hand(shape, marks, short, moved):
    assert shorten(shape, marks) == (short, moved)


def test_what_is_learned_of_an_expression_is_kept():
    assert shapes_of(PATTERNS["gpt2"]) is shapes_of(PATTERNS["gpt2"])


@pytest.mark.parametrize("name", sorted(PATTERNS))
@given(
    text=st.text("aAあ\u0301!/\n \t's1re", max_size=6),
    more=st.text("aAあ\u0301!/\n \t's1rel", max_size=6),
)
def test_few_continuations_show_all_that_may_happen(name, text, more):
    shapes, splitter = shapes_of(PATTERNS[name]), Splitter(PATTERNS[name])
    shape = shapes.shape(text)
    shown = {end for other in shapes.continuations for end in splitter.ends(shape + other)}
    assert shown.issuperset(end for end in splitter.ends(text + more) if end < len(text))
