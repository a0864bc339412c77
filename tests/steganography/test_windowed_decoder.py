"""A text read in windows, many at a time, says what each window says alone."""

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.steganography import _windowed_decoder as windowed_decoder
from ticore.steganography._window import Window
from ticore.steganography._windowed_decoder import WindowedDecoder

TOY = ToyModel(ToyTokenizer(["", "a", "b", "ab", "c"]))


@pytest.mark.parametrize("name", ["a model of batches", "a model without"])
@pytest.mark.parametrize("size", [1, 3, 30])
def test_logits_are_those_of_each_window(name, size, monkeypatch):
    monkeypatch.setattr(windowed_decoder, "GROUP", 3)
    monkeypatch.setattr(windowed_decoder, "_ROUNDS", 2)
    if name == "a model of batches":
        model = ticore.load_model("tiny-en")
        prompt, ids = model.tokenizer.encode("It was"), model.tokenizer.encode(" a cold day. So?")
    else:
        model, prompt, ids = TOY, [1, 2], [3, 4, 1, 1, 2, 4, 3]
    known, window = WindowedDecoder(model, prompt, ids, size), Window(prompt, size)
    for place, token in enumerate(ids):
        assert list(known.ids) == [*prompt, *ids[:place]]
        if place != 3:  # logits that nobody asks for
            alone = model.start(window.before(ids[:place])).logits()
            np.testing.assert_allclose(known.logits(), alone, rtol=0, atol=1e-9)
        known.push(token)
    known.rewind(len(ids))
    np.testing.assert_allclose(known.logits(), model.start(prompt).logits(), rtol=0, atol=1e-9)
