"""The expressions: Python's library splits by them like others, and settled boundaries stay."""

import random
import re
from itertools import combinations_with_replacement, pairwise, product

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import UnicodeScripts

from tests.support.pretokenizers import (
    PRETOKENIZERS,
    library_ends,
    library_ends_in_bytes,
    library_splitter,
)
from tests.support.random_bpe import ALPHABETS, PATTERNS
from tests.support.random_steps import byte_level_steps
from tests.support.slow import THOROUGH, examples, few_or_many
from ticore.backend_kit import NoStructure
from ticore.consistency._tokenizer_rules import byte_steps
from ticore.consistency._tokenizer_rules.characters import is_doubtful
from ticore.consistency._tokenizer_rules.pretokenizers import (
    WELL_KNOWN,
    Splitter,
    is_ambiguous,
    splitter_for,
)
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Split
from ticore_tiktoken import PATTERNS as TIKTOKENS
from ticore_tokenizers._pretokenizers import GPT2_PATTERN, read_steps

any_pretokenizer = pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)

# But for private ones; also signs that are newer than some libraries, which know no such character.
CERTAIN = [
    chr(code) for code in (*range(0xE000), *range(0xF900, 0xF0000)) if not is_doubtful(chr(code))
]
texts = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, max_size=8))


def test_known_expressions_are_those_that_adapters_give():
    assert {*TIKTOKENS.values(), GPT2_PATTERN} == WELL_KNOWN == set(PATTERNS.values())


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(pattern,) for pattern in PATTERNS.values()], ids=PATTERNS)
def test_splitter_splits_as_the_tokenizers_library_does(steps):
    """For characters of each block, among letters, digits, spaces, signs and their own kind."""
    splitter = splitter_for(steps)
    # Every character has its turn under one of the expressions; in a thorough run, under all.
    blocks = range(0, len(CERTAIN), 64)
    turn = [*PATTERNS.values()].index(*steps)
    for start in blocks if THOROUGH else blocks[turn :: len(PATTERNS)]:
        is_ambiguous = splitter.classes.is_ambiguous
        some = [c for c in CERTAIN[start : start + 64] if not is_ambiguous(c)]
        text = "".join(f"a{c}b {c}{c} 1{c}!{c}'{c}x{c}  {c}\nA{c}B{c}c/{c}" for c in some)
        assert library_ends(steps, text) == list(splitter.ends(text)), f"one of {some}"


def require_same_in_windows(splitter, text):
    """A window has the ends of the whole text."""
    ends = list(splitter.ends(text))
    for start, stop in combinations_with_replacement(range(len(text) + 1), 2):
        inside = [end for end in ends if start <= end <= stop]
        assert splitter.ends_between(text, start, stop) == inside


def require_parted(splitter, text):
    """Between two characters that are always parted, each side is split as it is by itself.

    But the side before sees the one character after it.
    """
    ends = list(splitter.ends(text))
    for at in range(1, len(text)):
        if splitter.classes.with_letters(text[at - 1 : at + 1]) in splitter.parted:
            assert at in ends
            assert [end - at for end in ends if end > at] == list(splitter.ends(text[at:]))
            for more in ("", "\n", "1a", "23"):
                seen = splitter.ends(text[: at + 1] + more)
                assert [end for end in ends if end <= at] == [end for end in seen if end <= at]


@any_pretokenizer
@given(text=texts)
@example(text="ab'sx au'tu b")
@example(text="a12 aab1aabb1")
@example(text="--a-  -1")
@example(text="a\n\n1")
def test_ends_are_those_of_the_tokenizers_library(steps, text):
    assume(not any(map(splitter_for(steps).classes.is_ambiguous, text)))
    assert list(splitter_for(steps).ends(text)) == library_ends(steps, text)
    require_parted(splitter_for(steps), text)
    require_same_in_windows(splitter_for(steps), text)


def test_no_pair_is_parted_where_what_follows_decides_what_a_later_step_sees():
    r"""The first step cuts "a\n\n123" before the digits, and "a\n\n12" nowhere.

    So GPT-2's sees the line ends once at the end of its text, where they stay whole, and once
    before a digit, where the last one is by itself.
    """
    splitter = splitter_for(PRETOKENIZERS["three-digits-gpt2"])
    assert list(splitter.ends("a\n\n123")) == [1, 3, 6]
    assert list(splitter.ends("a\n\n12")) == [1, 2, 3, 5]
    pairs = {pair: splitter.classes.with_letters(pair) for pair in ("\n1", " 1", "a1", "a ", "1a")}
    assert [pair for pair in pairs if pairs[pair] in splitter.parted] == ["a ", "1a"]


# Some look ahead, some count or need what follows, some match wherever they may begin.
_STEPS = (r"\s+(?!\S)|\s+", r"1{2}", r"a1?", r"a+", r"1(?!a)", r" ?a+| ?1+", r" (?=1)", r"[a1]")
_LOSSLESS = ("isolated", "merged_with_previous", "merged_with_next", "contiguous")


def test_parted_pairs_are_cut_by_the_library_whatever_stands_around_them():
    """All texts of up to five characters: two that begin alike are cut alike before such a pair."""
    letters = "a1 "
    texts = ["".join(text) for n in range(1, 6) for text in product(letters, repeat=n)]
    draw, met = random.Random(0), 0
    sequences = [*product(_STEPS, repeat=2), *(draw.choices(_STEPS, k=3) for _ in range(16))]
    for expressions in sequences:
        steps = tuple(
            Split(expression, draw.choice(_LOSSLESS), inverted=draw.random() < 0.2)
            for expression in expressions
        )
        splitter = Splitter(steps)
        shown = {a + b: splitter.classes.with_letters(a + b) for a, b in product(letters, repeat=2)}
        parted = {pair for pair, shape in shown.items() if shape in splitter.parted}
        if not parted:
            continue
        library = library_splitter(steps)
        ends = {t: [end for _, (_, end) in library.pre_tokenize_str(t)] for t in texts}
        for text, its in ends.items():
            for at in (n for n in range(1, len(text)) if text[n - 1 : n + 1] in parted):
                met += 1
                before = [end for end in its if end <= at]
                assert at in before, (steps, text)
                assert before == [end for end in ends[text[: at + 1]] if end <= at], (steps, text)
                assert its[len(before) :] == [at + end for end in ends[text[at:]]], (steps, text)
    assert met > 1000


@any_pretokenizer
@given(text=st.text() | texts)
def test_ends_cover_the_whole_text(steps, text):
    ends = [0, *splitter_for(steps).ends(text)]
    assert all(a < b for a, b in pairwise(ends))
    assert ends[-1] == len(text)


@any_pretokenizer
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
@example(text="\u3097\u3097", more="ぁ")
@example(text="!あ゛い", more="う")
@example(text="あ12", more="34")
def test_settled_boundaries_stay_when_text_is_appended(steps, text, more):
    splitter = splitter_for(steps)
    settled = set(splitter.settled(text))
    for reading in readings(text + more):
        ends = list(splitter.ends(reading))
        assert settled <= {0, *ends}
        for at in settled:  # and the text after them is split as if it stood alone
            assert [end - at for end in ends if end > at] == list(splitter.ends(reading[at:]))


@pytest.mark.parametrize("examples", few_or_many(20, examples(100, thorough=1000)))
def test_random_steps_split_as_the_tokenizers_library_does(examples):
    @settings(max_examples=examples)
    @given(steps=byte_level_steps(), text=texts, more=texts)
    def check(steps, text, more):
        try:
            found = read_steps({"type": "Sequence", "pretokenizers": steps})
            splitter = splitter_for(found.steps)
        except (NoStructure, Unsupported):
            return
        assume(not any(map(splitter.classes.is_ambiguous, text + more)))
        assume(not (splitter.drops_beginnings and splitter.drops_first((text + more)[:1])))
        # What is dropped is a part of its own here, and a tokenizer gives no token for it.
        dropping = splitter.drops_beginnings_of_parts
        assume(not (dropping and any(map(without_script, text + more))))
        ends, data = list(splitter.ends(text + more)), (text + more).encode()
        in_bytes = {len((text + more)[:end].encode()) for end in ends}
        apart = byte_steps.read_steps(splitter.steps).apart
        in_bytes |= {n for n in range(1, len(data)) if (data[n - 1], data[n]) in apart}
        assert sorted(in_bytes) == library_ends_in_bytes(splitter.steps, text + more)
        require_parted(splitter, text + more)
        require_same_in_windows(splitter, text + more)
        for at in splitter.settled(text):
            assert at in ends
            assert [e - at for e in ends if e > at] == list(splitter.ends((text + more)[at:]))

    check()


def without_script(character):
    """Whether the library drops a character at the beginning of a part."""
    return not UnicodeScripts().pre_tokenize_str(character)


def readings(text):
    """The text with its ambiguous characters taken for others."""
    if any(map(is_ambiguous, text)):
        kinds = ("s", "é", "É", "\u02b0", "\u0301", "²", "–", "\u3000")
        read = ["".join(kind if is_ambiguous(c) else c for c in text) for kind in kinds]
        return [text, *read]
    return [text]


@pytest.mark.parametrize(
    ("name", "text", "settled"),
    [
        ("gpt2", "one two three", [7, 3]),
        ("gpt2", "one two ", [7, 3]),
        ("gpt2", "one two'", [7, 3]),
        ("gpt2", "one two'r", [7, 3]),
        ("gpt2", "one\n\nx", [5, 4, 3]),
        ("cl100k", "1234567", [6, 3]),
        ("qwen2", "1234", [3, 2, 1]),
        ("o200k", "one two three", [7, 3]),
        ("o200k", "one two", [3]),
        ("o200k", "1AB", [1]),
        ("o200k", "1AB cde", [3, 1]),
        ("o200k", "!? ab cd ef", [8, 5, 2]),
        ("deepseek-v3", "12345 ab", [5, 3]),
        ("deepseek-v3", "漢字 ab c", [5, 2]),
        ("deepseek-v3", "!漢゛字", [3, 2, 1]),
        ("deepseek-v3", "漢12", [1]),
        ("digits-gpt2", "a12 ", [3, 2, 1]),
        ("restarts-nowhere", "aabac ", [5]),
        ("words", "ab, cd ef", [7, 6, 4, 3, 2]),
        ("lines", "b 1\n a b\n ab", [9, 7, 4, 2]),
        ("gpt2", "a b\u0378 cd ef", [7, 4, 1]),
        ("gpt2", "\u0378\u0378\u0378 ab cd", []),
    ],
)
def test_settled_gives_what_was_worked_out_by_hand(name, text, settled):
    assert splitter_for(PRETOKENIZERS[name]).settled(text) == settled


def test_is_ambiguous_names_what_libraries_disagree_on():
    assert [c for c in CERTAIN if is_ambiguous(c)] == ["\u017f", "\u0295"]
    assert is_ambiguous("\u0378")


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((r"(?<=a+)b",), "a look at any number of characters before a match"),
        ((r"(?<=a$)b",), "a look-around in a look at the characters before a match"),
        ((r"a\G",), r"the escape `\G`"),
        ((r"(?i)\w+",), r"`\w` where case is ignored"),
        ((r"(?:ab)+",), "a group that is repeated without a limit"),
        ((r"[\d--[b]]",), "an operation on sets"),
        ((r"(?i)\p{L}",), "the property `L` where case is ignored"),
        ((r"(?i)[^a]",), "a negated set where case is ignored"),
        ((r"(?i)k",), "`k` where case is ignored"),
        ((r"a*",), "matches nothing"),
        ((r"(a",), "a group that does not end"),
        ((r"a{2,3}+",), "a count that is repeated"),
        ((Split(r"\s+", "removed"),), "drops text"),
        (("a", Split(r"\S+", "removed", inverted=True)), "drops text"),
    ],
)
def test_splitter_refuses_what_it_cannot_read_with_the_reason(steps, reason):
    with pytest.raises(Unsupported, match=re.escape(reason)):
        Splitter(steps)
