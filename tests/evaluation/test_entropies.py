"""The entropy of a text is the mean of that of the model's distributions before its tokens."""

from __future__ import annotations

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import SettingsError
from ticore.evaluation._entropies import EntropyMeter, bucket_of
from ticore.evaluation._metrics import entropy, softmax


def test_buckets_are_those_of_the_mean() -> None:
    model = ticore.load_model("tiny-en")
    ids = model.tokenizer.encode("It was a cold morning, and nobody had brought any wood.")
    decoder, bits = model.start(ids[:0]), list[float]()
    for token in ids:
        bits.append(entropy(softmax(np.asarray(decoder.logits(), np.float64))))
        decoder.push(token)
    lengths = [1, 4, len(ids)]
    expected = [bucket_of(float(np.mean(bits[:length]))) for length in lengths]
    assert EntropyMeter(model, model.tokenizer).buckets(ids, lengths) == expected


def test_model_with_another_tokenizer_is_refused() -> None:
    with pytest.raises(SettingsError, match="expected one with the tokenizer of the detector"):
        EntropyMeter(ticore.load_model("tiny-en"), ToyTokenizer(["a", "b"]))


def test_text_longer_than_the_context_has_the_entropy_of_what_fits() -> None:
    tokenizer = ToyTokenizer([*"abcdefgh"])
    model = ToyModel(tokenizer, context=6, seed=2)
    ids = tokenizer.encode("abcdefgh" * 3)
    bits = [entropy(softmax(model.logits_after(ids[:length]))) for length in range(7)]
    expected = [bucket_of(float(np.mean(bits[:length]))) for length in (3, 7, 7)]
    assert EntropyMeter(model, tokenizer).buckets(ids, [3, 7, 20]) == expected
