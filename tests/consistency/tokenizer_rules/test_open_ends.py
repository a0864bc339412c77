"""Texts with one open end are split alike, whatever follows them."""

import random

import pytest

from tests.support.pretokenizers import PRETOKENIZERS
from tests.support.random_bpe import PATTERNS
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

any_pretokenizer = pytest.mark.parametrize("steps", PRETOKENIZERS.values(), ids=PRETOKENIZERS)


def random_text(draw, characters, longest):
    few = draw.sample(characters, min(len(characters), 3))
    return "".join(draw.choices(few, k=draw.randint(0, longest)))


def ends_from_the_end(splitter, text, more):
    """The boundaries of `text` that are there if `more` follows, and the next one."""
    return [len(text) - at for at in splitter.ends(text + more)]


@any_pretokenizer
@pytest.mark.parametrize("texts", [60, pytest.param(800, id="many", marks=pytest.mark.slow)])
def test_texts_with_one_open_end_are_split_alike(steps, texts):
    splitter, draw = splitter_for(steps), random.Random(texts)
    members = splitter.members_with_letters
    by_key = {}
    for _ in range(texts):
        text = random_text(draw, members, longest=6)
        by_key.setdefault(splitter.open_end(text).key, set()).add(text)
    for alike in by_key.values():
        for more in ["", *(random_text(draw, members, longest=4) for _ in range(8))]:
            found = set()
            for text in sorted(alike)[:6]:
                _, settled, splits = splitter.open_end(text)
                ends = ends_from_the_end(splitter, text, more)
                assert tuple(ends[: len(settled)]) == settled
                after = tuple(ends[len(settled) :])
                assert splits is None or tuple(at for at in after if at >= 0) in splits
                found.add(after)
            assert len(found) == 1, (alike, more)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("gpt2", ["the", " b", "the house", "'sa"]),
        ("gpt2", ["  ", "   ", "a  "]),
        ("cl100k", ["a!!", "!!", "! !!!"]),
        ("qwen2", ["1", "a1", "11", ""]),
        ("o200k", ["!\n", "a./\n\n"]),
    ],
)
def test_known_expressions_have_few_open_ends(name, texts):
    splitter = splitter_for((PATTERNS[name],))
    assert len({splitter.open_end(splitter.classes.shape(text)).key for text in texts}) == 1


@pytest.mark.parametrize(
    ("text", "settled", "splits"),
    [
        ("", (), {()}),
        ("a", (), {(), (0,)}),
        ("a b", (2,), {(), (0,)}),
        ("  ", (), {(), (0,), (1,), (1, 0)}),
        ("it'", (1,), {(), (0,)}),
    ],
)
def test_the_open_end_of_gpt2_worked_out_by_hand(text, settled, splits):
    found = splitter_for((PATTERNS["gpt2"],)).open_end(text)
    assert found.settled == settled
    assert found.splits is not None
    assert set(found.splits) == splits
