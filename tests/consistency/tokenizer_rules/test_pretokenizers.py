"""The expressions: Python's library splits by them like others, and settled boundaries stay."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from tests.support.random_bpe import ALPHABETS, PATTERNS
from ticore.consistency._tokenizer_rules.characters import is_doubtful
from ticore.consistency._tokenizer_rules.pretokenizers import KNOWN, Splitter, is_ambiguous
from ticore_tiktoken import PATTERNS as TIKTOKENS
from ticore_tokenizers._byte_level import GPT2_PATTERN

any_pattern = pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)

# But for private ones; also signs that are newer than some libraries, which know no such character.
CERTAIN = [
    chr(code) for code in (*range(0xE000), *range(0xF900, 0xF0000)) if not is_doubtful(chr(code))
]
texts = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=8))


def boundaries(splitter, text):
    return {0, *splitter.ends(text)}


def test_known_expressions_are_those_that_adapters_give():
    assert {*TIKTOKENS.values(), GPT2_PATTERN} == KNOWN == set(PATTERNS.values())


@pytest.mark.slow
@any_pattern
def test_splitter_splits_as_the_tokenizers_library_does(pattern):
    """For every character, among letters, digits, spaces, signs and its own kind."""
    split, splitter = pre_tokenizers.Split(Regex(pattern), "isolated"), Splitter(pattern)
    for start in range(0, len(CERTAIN), 64):
        some = [c for c in CERTAIN[start : start + 64] if not is_ambiguous(c)]
        text = "".join(f"a{c}b {c}{c} 1{c}!{c}'{c}x{c}  {c}\nA{c}B{c}c/{c}" for c in some)
        theirs = [end for _, (_, end) in split.pre_tokenize_str(text)]
        assert theirs == list(splitter.ends(text)), f"one of {some}"


@any_pattern
@given(text=st.text() | texts)
def test_ends_cover_the_whole_text(pattern, text):
    ends = [0, *Splitter(pattern).ends(text)]
    assert all(a < b for a, b in pairwise(ends))
    assert ends[-1] == len(text)


@any_pattern
@given(text=texts, more=texts | st.text(max_size=4))
@example(text="a ", more="b")
@example(text="a'", more="s")
@example(text="a'l", more="l")
@example(text="A'L", more="L")
@example(text="  a", more="")
@example(text=" AB", more="c")
@example(text="!AB", more="c")
@example(text="a!\n", more="\n")
@example(text="12", more="34")
@example(text="a\u017f", more="b")
@example(text="a '\u017f", more="b")
def test_settled_boundaries_stay_when_text_is_appended(pattern, text, more):
    splitter = Splitter(pattern)
    settled = set(splitter.settled(text))
    for reading in readings(text + more):
        assert settled <= boundaries(splitter, reading)


def readings(text):
    """The text with its ambiguous characters taken for others."""
    if any(map(is_ambiguous, text)):
        kinds = ("s", "b", "B", "\u02b0", "\u0301", "1", "!", "\u3000")
        return ["".join(kind if is_ambiguous(c) else c for c in text) for kind in kinds]
    return [text]


@pytest.mark.parametrize(
    ("name", "text", "settled"),
    [
        ("gpt2", "one two three", [7, 3]),
        ("gpt2", "one two ", [3]),
        ("gpt2", "one two'", [3]),
        ("gpt2", "one two'r", [7, 3]),
        ("gpt2", "one\n\nx", [4, 3]),
        ("cl100k", "1234567", [3]),
        ("qwen2", "1234", [2, 1]),
        ("o200k", "one two three", [7, 3]),
        ("o200k", "one two", [3]),
        ("o200k", "1AB", []),
        ("o200k", "1AB cde", [3, 1]),
        ("o200k", "!? ab cd ef", [8, 5, 2]),
        ("gpt2", "a b\u0378 cd ef", [7, 4, 1]),
        ("gpt2", "\u0378\u0378\u0378 ab cd", []),
    ],
)
def test_settled_gives_what_was_worked_out_by_hand(name, text, settled):
    assert Splitter(PATTERNS[name]).settled(text) == settled


def test_is_ambiguous_names_what_libraries_disagree_on():
    assert [c for c in CERTAIN if is_ambiguous(c)] == ["\u017f", "\u0295"]
    assert is_ambiguous("\u0378")


def test_splitter_refuses_an_unknown_expression():
    with pytest.raises(KeyError):
        Splitter(r"\w+")
