"""Character maps of a model's own, against SentencePiece's normalizer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_tokenizers import SentencePieceModel, charsmap
from ticore.backend_kit import NoStructure
from ticore.consistency import Verifier
from ticore_sentencepiece._character_maps import read_character_map

LETTERS = "abcxyéeいあう日本語国1一A\u0301\n"


def replaced(name: str) -> Mapping[str, str]:
    return read_character_map(charsmap(name), None)


@given(name=st.sampled_from(("pairs", "letters", "longer")), text=st.text(LETTERS, max_size=8))
def test_a_text_is_changed_if_and_only_if_a_replaced_text_is_in_it(name: str, text: str) -> None:
    model = SentencePieceModel("unigram", ((" ", -1.0),), rules=name, dummy_prefix=False)
    structure = model.open().structure()
    assert structure is not None
    assert structure.normalize is not None
    assert structure.replacements == replaced(name)
    is_changed = structure.normalize(text) != text
    assert is_changed == any(old in text for old in structure.replacements)


def test_of_texts_in_one_another_the_inner_ones_are_given() -> None:
    assert set(replaced("longer")) == {"ab", "あいう", "日本語"}  # and not "aab"
    assert read_character_map(charsmap("longer"), frozenset("abxy")) == {"ab": "x"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("undone", "other rules may undo that it replaces"),
        ("spaced", "replaces a text with a space, ' a'"),
        ("nmt_nfkc", "train it without byte_fallback"),
    ],
)
def test_other_maps_are_refused_with_their_reason(name: str, why: str) -> None:
    with pytest.raises(NoStructure, match=why):
        replaced(name)


def test_rules_may_make_up_for_each_other() -> None:
    """ "a" is dropped and "b" becomes "ab": so each is changed, and both together are not."""
    scores = tuple((text, -2.0) for text in " abc")
    verifier = Verifier(SentencePieceModel("unigram", scores, rules="undone").open())
    ids = {verifier.tokenizer.token_bytes(i): i for i in range(verifier.tokenizer.vocab_size)}
    text = verifier.start([ids[b" "], ids[b"c"], ids[b"a"]])
    assert not text.consistent
    text.push(ids[b"b"])
    assert text.consistent
