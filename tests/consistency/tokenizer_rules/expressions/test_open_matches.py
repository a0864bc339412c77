"""Texts with the same ways to match are matched alike, whatever follows them."""

from itertools import product

import pytest
import regex

from tests.consistency.tokenizer_rules.expressions.test_matching import EXPRESSIONS
from ticore.consistency._tokenizer_rules.expressions.open_matches import open_match, possible_ends
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.expressions.tree import to_regex

TEXTS = ["".join(text) for n in range(5) for text in product("ab' s\n", repeat=n)]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_texts_with_the_same_ways_are_matched_alike(expression):
    node = parse(expression, "rust")
    ways_of, library = open_match(node), regex.compile(to_regex(node))
    if ways_of is None:
        assert "(?<" in to_regex(node)
        return
    by_ways = {}
    for text in TEXTS:
        by_ways.setdefault(ways_of(text, 0), []).append(text)
    for ways, alike in by_ways.items():
        for more in TEXTS[:259:2]:
            found = set()
            for text in alike[:6]:
                match = library.match(text + more)
                found.add(None if match is None else len(text) - match.end())
            assert len(found) == 1, (ways, alike, more)
            end = found.pop()
            assert end is None or end < 0 or end in possible_ends(ways)
            if not ways:
                assert end is None
            elif isinstance(ways[0], int):
                assert end == ways[0]
            elif isinstance(ways[-1], int):
                assert end is not None


@pytest.mark.parametrize(
    ("expression", "same", "other"),
    [
        (r" ?\p{L}+|\s+(?!\S)|\s+", ["a", " a", " bcd"], " "),
        (r"a{2,3}b?|a", ["aaa"], "aa"),
        (r"a+?b", ["a", "aaa"], ""),
        (r"(?>a+)b|a", ["a"], "aa"),
        (r"a*+b", ["a", "aaa", ""], "b"),
    ],
)
def test_ways_tell_apart_no_more_than_what_follows_does(expression, same, other):
    ways_of = open_match(parse(expression, "rust"))
    assert ways_of is not None
    assert len({ways_of(text, 0) for text in same}) == 1
    assert ways_of(other, 0) != ways_of(same[0], 0)
