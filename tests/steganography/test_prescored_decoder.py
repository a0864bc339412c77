"""A text read at once says what reading it step by step says."""

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import InconsistentStateError, SettingsError
from ticore.steganography import _prescored_decoder as prescored_decoder
from ticore.steganography._prescored_decoder import PrescoredDecoder

MODEL = ToyModel(ToyTokenizer(["", "a", "b", "ab", "c"]))
PROMPT, IDS = [1, 2], [3, 4, 1, 1, 2]


@pytest.mark.parametrize("prompt", [[], PROMPT])
def test_prescored_decoder_gives_the_logits_of_the_text(prompt):
    known, stepwise = PrescoredDecoder(MODEL, prompt, IDS), MODEL.start(prompt)
    for token in IDS:
        assert list(known.ids) == list(stepwise.ids)
        assert np.array_equal(known.logits(), stepwise.logits())
        known.push(token)
        stepwise.push(token)
    known.rewind(3)
    stepwise.rewind(3)
    assert list(known.ids) == list(stepwise.ids)
    assert np.array_equal(known.logits(), stepwise.logits())


def test_prescored_decoder_refuses_other_tokens():
    known = PrescoredDecoder(MODEL, PROMPT, IDS)
    with pytest.raises(InconsistentStateError, match="own token at position 2, found 4"):
        known.push(4)
    for token in IDS:
        known.push(token)
    with pytest.raises(InconsistentStateError, match="position 7"):
        known.push(1)
    with pytest.raises(SettingsError, match="the 5 pushed tokens, found 6"):
        known.rewind(6)


def test_the_first_tokens_of_a_long_text_are_read_before_the_rest():
    passes = []

    class Counting(ToyModel):
        def score(self, ids):
            passes.append(len(ids))
            return super().score(ids)

    model, ids = Counting(MODEL.tokenizer), IDS * 20
    known, stepwise = PrescoredDecoder(model, PROMPT, ids), MODEL.start(PROMPT)
    for token in ids:
        assert np.array_equal(known.logits(), stepwise.logits())
        known.push(token)
        stepwise.push(token)
        if len(known.ids) < len(PROMPT) + 8:
            assert len(passes) == 1
    assert passes == [len(PROMPT) + 8, len(PROMPT) + len(ids)]
    PrescoredDecoder(model, PROMPT, IDS)
    assert passes[2:] == [len(PROMPT) + len(IDS)]


def test_fits_is_false_when_the_text_is_long(monkeypatch):
    monkeypatch.setattr(prescored_decoder, "MOST_LOGITS", 5 * 7)
    assert PrescoredDecoder.fits(MODEL, PROMPT, IDS)
    assert not PrescoredDecoder.fits(MODEL, [*PROMPT, 1], IDS)


def test_prescored_decoder_is_close_to_a_real_model():
    model = ticore.load_model("tiny-en")
    prompt, ids = model.tokenizer.encode("It was"), model.tokenizer.encode(" a cold morning.")
    known, stepwise = PrescoredDecoder(model, prompt, ids), model.start(prompt)
    for token in ids:
        assert np.abs(known.logits() - stepwise.logits()).max() < 1e-9
        known.push(token)
        stepwise.push(token)
