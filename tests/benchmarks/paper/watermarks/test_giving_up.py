"""Rollback of whole texts, with a bound of attempts for each text by itself."""

import random

import pytest

from benchmarks.paper.watermarks import writing
from benchmarks.paper.watermarks.arms import SAMPLING, WHOLE_TEXT
from benchmarks.paper.watermarks.giving_up import GivingUp
from benchmarks.paper.watermarks.writing import writer
from tests.support.toy_models import ToyBatchModel, ToyTokenizer
from ticore.errors import SettingsError
from ticore.watermarking import multinomial

TOKENIZER = ToyTokenizer(["a", "b", "ab", "ba", "c", "<end>"], special=[5])
MODEL = ToyBatchModel(TOKENIZER, seed=3, sharpness=0.5, eos_ids=[5])


def written(arm, count=40, length=8):
    draws = [random.Random(n) for n in range(count)]
    return writer(MODEL, arm)([[0]] * count, lambda row: multinomial(draws[row]), length)


def test_texts_are_consistent_and_the_others_are_given_up(monkeypatch):
    monkeypatch.setattr(writing, "ATTEMPTS", 3)
    found = written(WHOLE_TEXT)
    kept = [text for text in found if text.ids]
    assert 0 < len(kept) < len(found)
    assert all(text.consistent and len(text.ids) == 8 for text in kept)
    assert {text.end for text in kept} == {"length"}
    assert {text.rollbacks for text in found if not text.ids} == {3}
    assert max(text.rollbacks for text in kept) == 2


def test_a_text_that_is_consistent_at_once_is_the_one_without_rollback():
    free, whole = written(SAMPLING), written(WHOLE_TEXT)
    same = [text.ids == other.ids for text, other in zip(free, whole, strict=True)]
    assert same == [text.consistent for text in free]
    assert 0 < sum(same) < len(same)


def test_a_model_without_an_end_of_text_is_refused():
    with pytest.raises(SettingsError, match="expected a model that has a token for the end"):
        writer(ToyBatchModel(TOKENIZER), WHOLE_TEXT)


def test_sampler_must_know_where_its_text_begins():
    with pytest.raises(TypeError, match="of_text"):
        GivingUp(multinomial(random.Random(0)), [5], 2)([0], None)
