"""Expressions are read as libraries read them."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from ticore.consistency._engines.base import Unsupported
from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.consistency._tokenizer_rules.expressions.classes import is_ambiguous
from ticore.consistency._tokenizer_rules.expressions.syntax import Chars, leaves, parse, to_regex

PROPERTIES = [
    "L",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "M",
    "Mn",
    "Mc",
    "Me",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "S",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Z",
    "Zs",
    "Zl",
    "Zp",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Latin",
    "Greek",
    "Cyrillic",
    "Arabic",
    "Thai",
]
KNOWN = [
    chr(code)
    for code in (*range(0xD800), *range(0xF900, 0x20000), *range(0xE0000, 0xE0200))
    if is_assigned(chr(code)) and not is_ambiguous(chr(code))
]


@pytest.mark.slow
@pytest.mark.parametrize("source", [*(rf"\p{{{p}}}" for p in PROPERTIES), r"\s", r"\d", "."])
def test_sets_hold_the_same_characters_as_in_the_tokenizers_library(source):
    text = "x" + "x".join(KNOWN) + "x"
    library = pre_tokenizers.Split(Regex(source), "isolated")
    (leaf,) = leaves(parse(source))
    held = regex.compile(leaf.source).fullmatch
    ends = {end for _, (_, end) in library.pre_tokenize_str(text)}
    if held("x"):
        assert ends == {n + 1 for n, c in enumerate(text) if held(c)} | {
            n for n, c in enumerate(text) if held(c) and n
        }
    else:
        theirs = [c for n, c in enumerate(KNOWN) if 2 * n + 2 in ends]
        assert theirs == [c for c in KNOWN if held(c)]


@pytest.mark.parametrize(
    "expression",
    [
        r"a|[^bc-e]+?|\r\n{2}",
        r"(?i)[ab]c{1,3}|'S",
        r"x(?=y)|(?!z)[\s\S]",
        r"\x61\u0062\x{63}|[\-\]\\^]+|\.",
        r"[a[bc]-]|(a)(?:b(?>c))",
        r"[^(\s|[.,!?…。，、।۔،])]+",
        r"(?:ab|c){0,2}d|\p{^L}\P{N}",
        r"(?i:a(?-i:b))",
    ],
)
@given(text=st.text("abcdexyzABS'zß(|) .\r\n]-\\^1é", max_size=8))
def test_parse_reads_an_expression_as_the_tokenizers_library_does(expression, text):
    library = pre_tokenizers.Split(Regex(expression), "isolated")
    theirs = [end for _, (_, end) in library.pre_tokenize_str(text)]
    ends, at = [], 0
    for match in regex.finditer(to_regex(parse(expression)), text):
        if match.end() > match.start():
            ends += [match.start()] * (match.start() > at) + [match.end()]
            at = match.end()
    assert theirs == ends + [len(text)] * (len(text) > at)


def test_dollar_is_the_end_of_the_text_in_the_dialect_of_rust_alone():
    assert to_regex(parse("a$", "rust")) == r"a\Z"
    with pytest.raises(Unsupported, match="looks for the end of a line"):
        parse("a$")


def test_counts_with_a_plus_give_nothing_back_in_the_dialect_of_rust_alone():
    assert to_regex(parse("a{1,3}+", "rust")) == "a{1,3}+"
    with pytest.raises(Unsupported, match="a count that is repeated"):
        parse("a{1,3}+")


def test_leaves_are_the_sets_from_left_to_right():
    found = [leaf.source for leaf in leaves(parse(r"a[bc]+(?!\S)|\p{L}"))]
    assert found == ["a", "[bc]", r"\S", r"\p{L}"]
    assert list(leaves(Chars("a"))) == [Chars("a")]
