"""A match that is not open stays the same, whatever is appended."""

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from ticore.consistency._tokenizer_rules.expressions.matching import Attempt, Matcher
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.expressions.tree import to_regex

EXPRESSIONS = (
    r"ab?",
    r"a{1,3}|b",
    r"a{2,}?b",
    r"(?>a+)b|a",
    r"a++b|a",
    r"a*+(?!b)",
    r"\s+(?!\S)|\s+",
    r"a+(?=bb)|b",
    r"(?:ab){1,2}c|a",
    r"(?:ab){1,2}?",
    r"(?i:'s|'ll)|'?\p{L}+",
    r" ?[^\s\p{L}]+[\r\n/]*|[\p{Lu}\p{M}]*\p{Ll}+(?:'s)?",
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[a-c\d]+?(?:x|$)|.",
    r"(?<=a)b+|(?<!b)a|(?<=\n| {1,2})x",
    r"\b\w+\b|\B.|^\s",
    r"(?=\b)a|(?!a(?<=x))l",
    r"(?:ab*)+s|(?:l|[1x])+(?!\s)",
)
MATCHERS = {text: Matcher(parse(text, "rust")) for text in EXPRESSIONS}
texts = st.text("abA'sl1 \n/x", max_size=6)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(text=texts, more=texts)
@example(text="aa", more="a")
@example(text="a ", more="b")
@example(text="'", more="s")
@example(text=" ", more="")
def test_match_is_that_of_the_library_and_stays_if_it_is_not_open(expression, text, more):
    matcher, library = MATCHERS[expression], regex.compile(to_regex(parse(expression, "rust")))
    for at in range(len(text) + 1):
        found = matcher.match(text, at)
        expected = library.match(text, at)
        assert found.end == (None if expected is None else expected.end())
        if not found.open:
            longer = library.match(text + more, at)
            assert found.end == (None if longer is None else longer.end())


@pytest.mark.parametrize(
    ("expression", "text", "attempt"),
    [
        (r"ab?", "a", Attempt(1, open=True)),
        (r"ab?", "ab", Attempt(2, open=False)),
        (r"ab?", "ac", Attempt(1, open=False)),
        (r"a{1,3}|b", "aaa", Attempt(3, open=False)),
        (r"a{1,3}|b", "aa", Attempt(2, open=True)),
        (r"a{1,3}|b", "c", Attempt(None, open=False)),
        (r"\s+(?!\S)|\s+", "  a", Attempt(1, open=False)),
        (r"\s+(?!\S)|\s+", "  ", Attempt(2, open=True)),
        (r"(?:ab){1,2}c|a", "abab", Attempt(1, open=True)),
    ],
)
def test_match_on_texts_worked_out_by_hand(expression, text, attempt):
    assert MATCHERS[expression].match(text, 0) == attempt
