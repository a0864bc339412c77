"""Which tokens are taken to act alike."""

import io

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_bpe import MODES, PATTERNS, Bpe, BpeWithTrees, byte_level, few_characters
from ticore.consistency._engines.bpe.character_classes import Shapes
from ticore.consistency._engines.bpe.token_groups import (
    NEVER_FOLLOWS,
    UNDECIDED,
    GroupedVocabulary,
    TokenGrouper,
    group_vocabulary,
)
from ticore.consistency._engines.bpe.token_pairs import TokenPairs, build_tables
from ticore.consistency._tokenizer_rules.continuations import Continuations
from ticore.consistency._tokenizer_rules.normalizers import Normalization
from ticore.consistency._tokenizer_rules.pretokenizers import splitter_for

WORDS = ("house", "tree", " a", " b", "\u017f", "e\u0301", "\u0301", "a b", "\n", "é", "日")


class GroupsOf:
    """The grouper of a random tokenizer.

    Args:
        mode: see `ticore.consistency._modes`.
        model: the tokenizer; one that has WORDS, if None.
    """

    def __init__(self, mode, model=None):
        model = model or Bpe(pattern="gpt2", more=tuple(w.encode() for w in WORDS))
        self.bpe = BpeWithTrees(model)
        structure, self.spelled = self.bpe.structure, self.bpe.spelled
        self.pairs = TokenPairs(build_tables(structure, self.spelled), self.spelled)
        shapes = Shapes(splitter_for((PATTERNS[model.pattern],)))
        normalization, following = Normalization(structure), Continuations(structure, mode)
        self.grouper = TokenGrouper(shapes, normalization, mode, self.pairs, following)

    def of(self, spelled, near_apostrophe=False, whole_part_only=False):
        return self.grouper.group(
            spelled,
            self.bpe.id_of(spelled),
            near_apostrophe=near_apostrophe,
            whole_part_only=whole_part_only,
        )


@pytest.mark.parametrize("mode", MODES)
def test_group_is_the_same_for_tokens_of_one_shape(mode):
    grouped = GroupsOf(mode)
    assert grouped.of(b" a") is grouped.of(b" b")
    assert grouped.of(b"a") is not grouped.of(b" a")


def test_group_ignores_the_length_of_long_tokens():
    words = (b"a" * 5, b"b" * 30)
    grouped = GroupsOf("prefix", Bpe(pattern="gpt2", more=words))
    assert grouped.of(words[0]) is grouped.of(words[1])


@pytest.mark.parametrize(("letter", "alike"), [(b"s", False), (b"x", True)])
def test_group_differs_for_letters_of_contractions_when_an_apostrophe_is_near(letter, alike):
    grouped = GroupsOf("prefix")
    assert grouped.of(letter) == grouped.of(b"a")
    near = [grouped.of(text, near_apostrophe=True) for text in (letter, b"a")]
    assert (near[0] == near[1]) == alike


@pytest.mark.parametrize("mode", MODES)
def test_group_never_follows_when_no_text_holds_the_token(mode):
    """The normalizer changes it, it is always split, or its bytes spell no text."""
    model = Bpe(
        pattern="gpt2", normal_form="NFC", more=(b"a b", "e\u0301".encode(), b"\x80", b"a\xffb")
    )
    grouped = GroupsOf(mode, model)
    assert grouped.of(b"a b") == NEVER_FOLLOWS
    assert grouped.of("e\u0301".encode()) == NEVER_FOLLOWS
    assert grouped.of(b"\x80") == NEVER_FOLLOWS
    assert grouped.of(b"a\xffb") == NEVER_FOLLOWS


def test_group_is_undecided_when_a_character_is_ambiguous():
    grouped = GroupsOf("prefix")
    assert grouped.of("\u017f".encode()) == UNDECIDED


def test_group_of_an_unfinished_character_follows_when_some_character_finishes_it():
    assert GroupsOf("prefix").of(b"\xc3") == NEVER_FOLLOWS
    with few_characters():
        for mode in ("open", "viable"):
            grouped = GroupsOf(mode)
            assert grouped.of(b"\xc3") != NEVER_FOLLOWS
            assert grouped.of(b"\xc3", whole_part_only=True) == NEVER_FOLLOWS
    with few_characters("a"):
        assert GroupsOf("open").of(b"\xc3") == NEVER_FOLLOWS


def test_group_is_undecided_when_only_a_composing_mark_finishes_the_bytes():
    model = Bpe(pattern="gpt2", normal_form="NFC")
    with few_characters("\u0301"):
        assert GroupsOf("open", model).of(b"\xcc") == UNDECIDED
    with few_characters("\u0301"):
        assert GroupsOf("open").of(b"\xcc") != UNDECIDED


@pytest.mark.slow
@given(model=byte_level())
def test_grouped_vocabulary_is_the_same_after_it_was_stored(model):
    with few_characters():
        grouped = GroupsOf("viable", model)
        whole_part_only = grouped.pairs.whole_part_only.tolist()
        reachable = grouped.bpe.reachable
        vocabulary = group_vocabulary(
            grouped.grouper, grouped.spelled, reachable, whole_part_only, True
        )
    file = io.BytesIO()
    np.savez(file, **vocabulary.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = GroupedVocabulary.from_arrays(dict(arrays), len(grouped.spelled))
    assert again.groups == vocabulary.groups
    assert again.group_of.dtype == vocabulary.group_of.dtype
    assert again.group_of.tolist() == vocabulary.group_of.tolist()


@pytest.mark.slow
@given(model=byte_level())
def test_group_vocabulary_puts_every_candidate_into_its_group(model):
    with few_characters():
        grouped = GroupsOf("viable", model)
        whole_part_only = grouped.pairs.whole_part_only.tolist()
        reachable = grouped.bpe.reachable
        vocabulary = group_vocabulary(
            grouped.grouper, grouped.spelled, reachable[1:], whole_part_only, False
        )
        for token in reachable[1:]:
            spelled = grouped.spelled[token]
            group = grouped.grouper.group(spelled, token, near_apostrophe=False)
            assert vocabulary.groups[vocabulary.group_of[token]] == group
    assert vocabulary.groups[vocabulary.group_of[reachable[0]]] == NEVER_FOLLOWS


def test_grouped_vocabulary_has_the_names_of_earlier_cached_files():
    """A cached file is read as long as its arrays have these names."""
    with few_characters():
        grouped = GroupsOf("prefix")
        whole_part_only = grouped.pairs.whole_part_only.tolist()
        vocabulary = group_vocabulary(grouped.grouper, grouped.spelled, [], whole_part_only, True)
    assert sorted(vocabulary.to_arrays()) == ["groups", "of"]
