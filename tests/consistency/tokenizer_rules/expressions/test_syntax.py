"""Expressions are read as libraries read them."""

import re
from itertools import combinations, product
from string import ascii_lowercase

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from tiktoken import Encoding
from tokenizers import Regex, pre_tokenizers

from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.consistency._tokenizer_rules.expressions.classes import is_ambiguous
from ticore.consistency._tokenizer_rules.expressions.syntax import parse
from ticore.consistency._tokenizer_rules.expressions.tree import Chars, leaves, to_regex
from ticore.consistency._unsupported import Unsupported

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
    "Bopomofo",
    "Hebrew",
    "Devanagari",
    "Armenian",
    "Tamil",
    "Letter",
    "Alphabetic",
]
KNOWN = [
    chr(code)
    for code in (*range(0xD800), *range(0xF900, 0x20000), *range(0xE0000, 0xE0200))
    if is_assigned(chr(code)) and not is_ambiguous(chr(code))
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [*(rf"\p{{{p}}}" for p in PROPERTIES), r"\s", r"\d", ".", r"\w", r"[\w]"],
)
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
        r"^a|b$|\s+$|c\Z",
        r"\Aa|b\z|\s^|^\n",
        r"\b[a-d]+\b|\B.\B",
        r"\w+|[^\w\s]+",
        r"\W[\w-]|[\W\d]|\s+",
        r"(?<=a)b|(?<!b)c|(?<=[xy]| a)z|(?<!d.{1,2})e",
        r"(?=\b)a.|(?<=\n)\s|(?:(?<=a)|x)b",
        r"[a-e&&[^bc]]+|[^a-z&&[xyz ]]|[\s&&\S]|[^b-y&&[^a1]]",
        r"[a[^b-z]\S&&\D]+|[[^a-z]]{2}",
        r"[[:alpha:]1]+|[[:digit:][:space:]]",
        r"[a-c]{1,3}+d|x{0,2}+y",
        r"(?:a|[bc])+c|(?:xy*)+y|z(?:A(?:B)*)*B|d(?:ea*)++a",
    ],
)
@given(text=st.text("abcdexyzABS'zß(|) .\r\n]-\\^1é²½_", max_size=8))
@example(text="a\na")
@example(text="b\nb\n")
@example(text="²½a b²")
def test_parse_reads_an_expression_as_the_tokenizers_library_does(expression, text):
    library = pre_tokenizers.Split(Regex(expression), "isolated")
    theirs = [end for _, (_, end) in library.pre_tokenize_str(text)]
    ends, at = [], 0
    for match in regex.finditer(to_regex(parse(expression)), text):
        if match.end() > match.start():
            ends += [match.start()] * (match.start() > at) + [match.end()]
            at = match.end()
    assert theirs == ends + [len(text)] * (len(text) > at)


@pytest.mark.parametrize(
    "expression",
    [
        r"a$|^b|\s+$",
        r"\Aa|b\z|.",
        r"\b[a-d]+\b|\B.",
        r"[\w']+|\W",
        r"(?<=a)b|(?<!b)c|[a-c&&[^b]]+",
        r"x{1,3}+x|[[a-c]&&[^a]]",
    ],
)
@given(text=st.text("abcx' \n²_\u200d", max_size=6))
@example(text="a\na")
@example(text="b\nb\n")
def test_parse_reads_an_expression_as_tiktoken_does(expression, text):
    substrings = {text[a:b].encode() for a, b in combinations(range(len(text) + 1), 2)}
    tokens = sorted({*(bytes([n]) for n in range(256)), *substrings})
    # With all texts as tokens, each match is a token.
    tiktoken = Encoding(
        "every text",
        pat_str=expression,
        mergeable_ranks={data: n for n, data in enumerate(tokens)},
        special_tokens={},
    )
    ours = regex.findall(to_regex(parse(expression, "rust")), text)
    theirs = [tokens[n].decode() for n in tiktoken.encode_ordinary(text)]
    assert [found for found in ours if found] == theirs


def test_counts_with_a_plus_give_nothing_back_in_the_dialect_of_rust_alone():
    assert to_regex(parse("a{1,3}+", "rust")) == "a{1,3}+"
    assert to_regex(parse("a{1,3}+")) == "a+"
    with pytest.raises(Unsupported, match="a count that is repeated"):
        parse("a{2,3}+")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (r"\pL+", r"a property `\p` without a bracket `{`"),
        (r"[\PN]", r"a property `\P` without a bracket `{`"),
        (r"a{2}?", "a count that is repeated"),
        (r"(?:ab){2}?c", "a count that is repeated"),
        (r"a|(?i:s\x53)b", "letters that are one character where case is ignored"),
        (r"(?i)(?:st){1,2}", "letters that are one character where case is ignored"),
        (r"a(?=(?i:of{1,2}))", "letters that are one character where case is ignored"),
    ],
)
def test_what_oniguruma_reads_in_its_own_way_is_refused(expression, reason):
    with pytest.raises(Unsupported, match=re.escape(reason)):
        parse(expression)
    assert parse(expression, "rust")


def test_properties_without_brackets_and_lazy_counts_are_read_in_the_dialect_of_rust():
    assert to_regex(parse(r"\pL\PN[\pL]", "rust")) == r"\p{L}\P{N}[\p{L}]"
    assert to_regex(parse("a{2}?", "rust")) == "a{2,2}?"


def test_letters_that_are_one_character_where_case_is_ignored_are_refused():
    """Of each two letters it is known whether the library takes a single character for them."""
    characters = map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
    text = " ".join(c for c in characters if len(c.casefold()) > 1)
    refused = []
    for pair in map("".join, product(ascii_lowercase.replace("k", ""), repeat=2)):
        library = pre_tokenizers.Split(Regex(f"(?i:{pair})"), "isolated")
        try:
            parse(f"(?i:{pair})")
        except Unsupported:
            refused.append(pair)
        else:
            assert len(library.pre_tokenize_str(text)) == 1, pair
    assert refused == ["ff", "fi", "fl", "ss", "st"]


def test_leaves_are_the_sets_from_left_to_right():
    found = [leaf.source for leaf in leaves(parse(r"a[bc]+(?!\S)|\p{L}"))]
    assert found == ["a", "[bc]", r"\S", r"\p{L}"]
    assert list(leaves(Chars("a"))) == [Chars("a")]
