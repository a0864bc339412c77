"""What is left alone at the beginnings and ends of a text."""

from __future__ import annotations

import numpy as np
import pytest

from ticore.consistency._engines.unigram.reading import Reading
from ticore.interfaces import TokenizerStructure


def reading(**fields):
    scores = np.zeros(1, dtype=np.float32)
    pieces = np.ones(1, dtype=bool)
    return Reading(TokenizerStructure("unigram", "characters", pieces, scores=scores, **fields))


@pytest.mark.parametrize(
    ("fields", "last", "text", "read"),
    [
        ({}, "b", " \n", " \n"),
        ({"keeps_whitespace": False}, "b", " \n", " \n"),
        ({"keeps_whitespace": False}, " ", " \n", "\n"),
        ({"keeps_whitespace": False, "dummy_suffix": True}, "b", "a", "a "),
        ({"keeps_whitespace": False, "dummy_suffix": True}, " ", " \n", "\n "),
        ({"normalize": lambda text: text.replace("\n", " ").strip()}, "b", "\n", ""),
    ],
)
def test_at_end_gives_what_is_read_of_the_last_part_of_a_text(fields, last, text, read):
    assert reading(**fields).at_end(last, text) == read


def test_no_text_ends_in_a_space_that_is_dropped_or_without_the_one_that_is_added():
    drops = reading(keeps_whitespace=False)
    adds = reading(keeps_whitespace=False, dummy_suffix=True)
    assert [(r.may_end("a"), r.may_end(" ")) for r in (reading(), drops, adds)] == [
        (True, True),
        (True, False),
        (False, True),
    ]


def test_a_text_begins_with_its_dummy_prefix_and_no_other_space():
    prefixed = reading(dummy_prefix=True, keeps_whitespace=False)
    assert [prefixed.may_begin_with(text) for text in ("a", " ", " a", "  a")] == [0, 1, 1, 0]


def test_all_kept_is_keeps_of_each():
    lower = reading(normalizer="lowercase", normalize=str.lower, keeps_whitespace=False)
    texts = [*("a b", "A", "a  b", "\n"), *["x"] * 300, "X"]
    assert lower.all_kept(texts) == [lower.keeps(text) for text in texts]
    assert lower.all_kept(texts).count(False) == 3
