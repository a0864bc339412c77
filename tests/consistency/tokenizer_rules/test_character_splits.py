"""Splits by two neighbours are those that the library makes."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from tests.support.random_steps import beside_metaspace, metaspace
from ticore.consistency._tokenizer_rules.character_splits import (
    splits_between,
    without_merges_across,
)
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Split, TokenizerStructure
from ticore_tokenizers._beside_metaspace import read_beside_metaspace

SIGNS = "ab1²あé.,'! \n"
OWN = metaspace("never", split=True)


def parts_by_library(steps, text):
    state = json.loads(Tokenizer(models.BPE()).to_str())
    state["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": list(steps)}
    library = Tokenizer.from_str(json.dumps(state)).pre_tokenizer
    return [part.replace("▁", " ") for part, _ in library.pre_tokenize_str(text)]


@given(beside_metaspace(OWN).filter(lambda steps: steps[0] == OWN), st.text(SIGNS, max_size=9))
def test_neighbours_are_apart_where_the_library_splits(steps, text):
    beside = read_beside_metaspace({"type": "Sequence", "pretokenizers": list(steps)})
    are_apart = splits_between(beside.around((" [^ ]*",)))
    parts = [""]
    for before, after in pairwise(("", *text)):
        if before and are_apart(before, after):
            parts.append("")
        parts[-1] += after
    assert [part for part in parts if part] == parts_by_library(steps, text)


@pytest.mark.parametrize(
    ("step", "is_known"),
    [
        ("(?i:s)", False),
        ("(?i)[a-z]+", False),
        (r"\p{L}", False),
        ("[s\u017f]", True),
    ],
)
def test_rules_beside_a_long_s_are_refused_where_libraries_may_take_it_for_an_s(step, is_known):
    spelled = [text.encode() for text in ("a", "\u017f", "a\u017f")]
    structure = TokenizerStructure(
        kind="bpe",
        atoms="characters",
        pieces=np.ones(3, dtype=bool),
        merges=np.array([(0, 1, 2)], dtype=np.int32),
        pretokenizer=(Split(step, reads="marks"),),
    )
    if is_known:
        assert not len(without_merges_across(structure, spelled).merges)
    else:
        with pytest.raises(Unsupported, match=r"whether its pretokenizer splits at '\\u017f'"):
            without_merges_across(structure, spelled)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("ab", "known there are single characters"),
        ("a{2,}", "known there are single characters"),
        ("[ab]+|b", "known there are single characters"),
        (Split("a", reads="bytes"), "known there are single characters"),
        (Split("a", "removed"), "drops text"),
    ],
)
def test_steps_that_look_at_more_than_two_neighbours_are_refused(step, why):
    with pytest.raises(Unsupported, match=why):
        splits_between((step,))


def test_rules_across_a_split_are_left_out():
    spelled = [b"a", b"1", b" ", b"a1", b" a", b" 1"]
    structure = TokenizerStructure(
        kind="bpe",
        atoms="characters",
        pieces=np.ones(6, dtype=bool),
        merges=np.array([(0, 1, 3), (2, 0, 4), (2, 1, 5)], dtype=np.int32),
        pretokenizer=(Split("[0-9]", reads="marks"),),
    )
    read = without_merges_across(structure, spelled)
    assert read.merges.tolist() == [[2, 0, 4]]
    assert read.pretokenizer == ()
