"""Which tokens are taken to behave alike."""

import io

import numpy as np
import pytest
from hypothesis import given

from tests.consistency.random_bpe import (
    MODES,
    PATTERNS,
    Bpe,
    Learned,
    byte_level,
    few_characters,
)
from ticore.consistency.bpe.grouping import NEVER, UNDECIDED, Grouping, Sorting, sort_vocabulary
from ticore.consistency.bpe.shapes import Shapes
from ticore.consistency.bpe.vocabulary import Vocabulary, build
from ticore.consistency.normalization import Normalization

WORDS = ("house", "tree", " a", " b", "\u017f", "e\u0301", "\u0301", "a b", "\n", "é", "日")


class Grouped:
    def __init__(self, mode, model=None):
        model = model or Bpe(pattern="gpt2", more=tuple(w.encode() for w in WORDS))
        self.learned = Learned(model)
        structure, self.spelled = self.learned.structure, self.learned.spelled
        self.vocabulary = Vocabulary(build(structure, self.spelled), self.spelled)
        shapes = Shapes(PATTERNS[model.pattern])
        self.grouping = Grouping(shapes, Normalization(structure), mode, self.vocabulary)

    def of(self, spelled, near=False, alone=False):
        token = self.learned.id_of(spelled)
        return self.grouping.group(spelled, token, near_apostrophe=near, alone=alone)


@pytest.mark.parametrize("mode", MODES)
def test_tokens_of_one_shape_are_in_one_group(mode):
    grouped = Grouped(mode)
    assert grouped.of(b" a") is grouped.of(b" b")
    assert grouped.of(b"a") is not grouped.of(b" a")


def test_long_tokens_are_grouped_by_their_ends():
    words = (b"a" * 5, b"b" * 30)
    grouped = Grouped("prefix", Bpe(pattern="gpt2", more=words))
    assert grouped.of(words[0]) is grouped.of(words[1])


@pytest.mark.parametrize(("letter", "alike"), [(b"s", False), (b"x", True)])
def test_behind_an_apostrophe_letters_of_contractions_are_told_apart(letter, alike):
    grouped = Grouped("prefix")
    assert grouped.of(letter) == grouped.of(b"a")
    assert (grouped.of(letter, near=True) == grouped.of(b"a", near=True)) == alike


@pytest.mark.parametrize("mode", MODES)
def test_what_never_comes(mode):
    """Text that the normaliser changes, text that is always split, and bytes that spell none."""
    model = Bpe(
        pattern="gpt2", normal_form="NFC", more=(b"a b", "e\u0301".encode(), b"\x80", b"a\xffb")
    )
    grouped = Grouped(mode, model)
    assert grouped.of(b"a b") == NEVER
    assert grouped.of("e\u0301".encode()) == NEVER
    assert grouped.of(b"\x80") == NEVER
    assert grouped.of(b"a\xffb") == NEVER


def test_what_only_the_tokenizer_can_decide_about():
    grouped = Grouped("prefix")
    assert grouped.of("\u017f".encode()) == UNDECIDED


def test_whether_what_is_unfinished_may_come():
    assert Grouped("prefix").of(b"\xc3") == NEVER
    with few_characters():
        for mode in ("open", "viable"):
            grouped = Grouped(mode)
            assert grouped.of(b"\xc3") != NEVER
            assert grouped.of(b"\xc3", alone=True) == NEVER
    with few_characters("a"):
        assert Grouped("open").of(b"\xc3") == NEVER


def test_a_mark_that_may_compose_with_what_stands_before_is_left_to_the_tokenizer():
    """If no other character finishes the same bytes."""
    model = Bpe(pattern="gpt2", normal_form="NFC")
    with few_characters("\u0301"):
        assert Grouped("open", model).of(b"\xcc") == UNDECIDED
    with few_characters("\u0301"):
        assert Grouped("open").of(b"\xcc") != UNDECIDED


@given(model=byte_level())
def test_sortings_come_back_as_they_were(model):
    with few_characters():
        grouped = Grouped("viable", model)
        alone = grouped.vocabulary.alone.tolist()
        reachable = grouped.learned.reachable
        sorting = sort_vocabulary(grouped.grouping, grouped.spelled, reachable, alone, True)
    file = io.BytesIO()
    np.savez(file, **sorting.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = Sorting.from_arrays(dict(arrays), len(grouped.spelled))
    assert again.groups == sorting.groups
    assert again.of.dtype == sorting.of.dtype
    assert again.of.tolist() == sorting.of.tolist()


@given(model=byte_level())
def test_every_candidate_is_sorted_into_its_group(model):
    with few_characters():
        grouped = Grouped("viable", model)
        alone = grouped.vocabulary.alone.tolist()
        reachable = grouped.learned.reachable
        sorting = sort_vocabulary(grouped.grouping, grouped.spelled, reachable[1:], alone, False)
        for token in reachable[1:]:
            spelled = grouped.spelled[token]
            group = grouped.grouping.group(spelled, token, near_apostrophe=False)
            assert sorting.groups[sorting.of[token]] == group
    assert sorting.groups[sorting.of[reachable[0]]] == NEVER
