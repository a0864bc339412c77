"""Pretokenizers of tokenizer.json files as steps of a TokenizerStructure."""

from __future__ import annotations

import random

import pytest
import regex
from tokenizers.pre_tokenizers import UnicodeScripts

from tests.support.random_steps import PUBLISHED, byte_level_step, digits, metaspace, split_by
from tests.support.random_tokenizers import JsonTokenizer
from ticore.backend_kit import NoStructure
from ticore.consistency._tokenizer_rules.pretokenizers import Splitter
from ticore.interfaces import Split
from ticore_tokenizers._pretokenizers import GPT2_PATTERN, read_steps

NO_REGEX = byte_level_step(use_regex=False)
PREFIXING = byte_level_step(use_regex=True, add_prefix_space=True)

SCRIPTS = {"type": "UnicodeScripts"}
WORDS = {"type": "WhitespaceSplit"}


def in_sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


@pytest.mark.parametrize(
    ("steps", "read"),
    [
        ((NO_REGEX,), (r"[\s\S]+",)),
        ((PREFIXING,), (GPT2_PATTERN,)),
        ((digits(individual=True), in_sequence(NO_REGEX)), (r"\p{N}",)),
        (({"type": "FixedLength", "length": 3}, NO_REGEX), (r"[\s\S]{1,3}",)),
        ((NO_REGEX, digits(individual=False)), (Split(r"\p{N}+", reads="bytes"),)),
        ((NO_REGEX, {"type": "WhitespaceSplit"}), (Split(r"\s", "removed", reads="bytes"),)),
        (
            (PREFIXING, split_by("a", "Contiguous", invert=True)),
            (GPT2_PATTERN, Split("a", "contiguous", inverted=True, reads="bytes")),
        ),
    ],
)
def test_steps_are_read_in_order_and_those_after_byte_level_see_bytes(steps, read):
    found = read_steps(in_sequence(*steps))
    assert found.steps == read
    assert found.adds_leading_space == (PREFIXING in steps)


@pytest.mark.parametrize(
    ("step", "dropped", "kept"),
    [
        ({"type": "WhitespaceSplit"}, " \n\u3000", ()),
        ({"type": "Whitespace"}, " \n\u3000", (Split(r"\w+|[^\w\s]+", dialect="rust"),)),
        ({"type": "CharDelimiterSplit", "delimiter": "a"}, "a", ()),
    ],
)
def test_what_is_dropped_before_byte_level_is_told_from_the_splits(step, dropped, kept):
    found = read_steps(in_sequence(step, byte_level_step(use_regex=True)))
    assert found.steps == (*kept, GPT2_PATTERN)
    assert set(dropped) <= set(found.dropped)
    assert not {"b", "\u200b"}.intersection(found.dropped)


def test_scripts_are_those_of_the_library():
    """All characters that its Unicode knows, and unassigned ones, each after one of each script."""
    split, *others = read_steps(in_sequence(SCRIPTS, NO_REGEX)).steps
    assert (split.behavior, others) == ("on_change", [])
    splitter = Splitter((split,))
    firsts = [regex.match(r"\[(?:\\x\{(\w+)\})", part)[1] for part in split.expression.split("|")]
    letters = [chr(int(code, 16)) for code in firsts]
    rng = random.Random(0)
    some = [chr(c) for c in rng.sample([*range(0xD800), *range(0xE000, 0x20000)], 3000)]
    text = "".join(letter + character for character in some for letter in rng.sample(letters, 3))
    parts = UnicodeScripts().pre_tokenize_str(text)
    assert list(splitter.ends(text)) == [end for _, (_, end) in parts]


def test_falcon_splits_digits_among_bytes():
    found = read_steps(in_sequence(*PUBLISHED["falcon"])).steps
    assert found[1:] == (
        GPT2_PATTERN,
        Split(r"\p{N}+", reads="bytes"),
        Split("[0-9][0-9][0-9]", reads="bytes"),
    )


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((), "ByteLevel nowhere"),
        ((NO_REGEX, NO_REGEX), "ByteLevel more than once"),
        ((digits(individual=True), PREFIXING), "a space before each part"),
        (({"type": "Whitespace"}, PREFIXING), "a space before each part"),
        (({"type": "CharDelimiterSplit", "delimiter": "|"}, NO_REGEX), r"drops '\|'"),
        ((NO_REGEX, {"type": "CharDelimiterSplit", "delimiter": "a"}), "drops bytes"),
        ((metaspace("never"), NO_REGEX), "Metaspace is not known"),
    ],
)
def test_what_has_no_steps_is_refused_with_the_reason(steps, reason):
    with pytest.raises(NoStructure, match=reason):
        read_steps(in_sequence(*steps))


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((metaspace("always"),), ""),
        ((WORDS, metaspace("always")), ""),
        ((WORDS, metaspace("first")), "drops the spaces between words"),
        ((WORDS, metaspace("always"), digits(individual=True)), ""),
        ((metaspace("always"), digits(individual=True)), ""),
        ((digits(individual=True), metaspace("always")), "put Metaspace first"),
        ((metaspace("always"), WORDS), "WhitespaceSplit drops white space"),
        ((metaspace("always"), metaspace("never")), "in a way that is not known"),
    ],
)
def test_metaspace_is_read_with_splits_that_come_after_it(steps, why):
    model = JsonTokenizer(
        "characters",
        more=(b"a",),
        pretokenizers=(in_sequence(*steps),),
        decoder="metaspace",
        strips=True,
    )
    assert why in (reason := model.open().no_structure_reason)
    assert bool(why) == bool(reason)
