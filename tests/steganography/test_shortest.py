"""The shortest of some texts is taken."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel
from ticore.errors import CapacityError, SettingsError
from ticore.steganography._sealed_writing import Writing
from ticore.steganography._text_state import OutrunError

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def model():
    return ToyModel(ticore.load_model("tiny-en").tokenizer, sharpness=2)


def steganographer(model, seed, count, **settings):
    given = {"prompt": "One day", "security": "compact", "finish": "none", "pad": "none"}
    entropy = np.random.default_rng(seed).bytes
    settings = {"key": KEY, "shortest_of": count, "entropy": entropy} | given | settings
    return ticore.Steganographer(model, **settings)


def test_no_text_that_was_written_is_shorter_and_its_reader_needs_nothing(model, monkeypatch):
    """Those that are given up are at least as long: they are written to the end here."""
    one, lengths = Writing.one, []

    def to_the_end(self, rival=None):
        written = yield from one(self)
        lengths.append(len(written.ids))
        if rival is not None and len(written.ids) >= rival:
            raise OutrunError
        return written

    for seed in range(3):
        with monkeypatch.context() as patched:
            patched.setattr(Writing, "one", to_the_end)
            lengths.clear()
            shortest = steganographer(model, seed, 4).embed(b"hi")
        assert len(shortest.ids) == min(lengths)
        assert len(lengths) == 4
        followed = []
        written = steganographer(model, seed, 4).embed(b"hi", follower=followed.append)
        assert len(written.ids) <= lengths[0]
        assert written.text == followed[-1]
        assert steganographer(model, 0, 1).extract(written) == b"hi"


def test_a_later_text_that_cannot_be_written_leaves_the_first(model, monkeypatch):
    one, asked = Writing.one, []

    def fails_once(self, rival=None):
        asked.append(rival)
        if len(asked) == 2:
            raise CapacityError("the model leaves no choice here")
        return (yield from one(self, rival))

    monkeypatch.setattr(Writing, "one", fails_once)
    written = steganographer(model, 1, 3).embed(b"hi")
    assert len(asked) == 3
    assert steganographer(model, 0, 1).extract(written) == b"hi"


def test_first_text_is_the_one_that_is_written_alone_and_longer_ones_are_given_up(model):
    alone = steganographer(model, 1, 1).embed(b"hi")
    steps = []
    steganographer(model, 1, 3).embed(b"hi", follower=steps.append)
    assert alone.text in steps
    longest = max(len(model.tokenizer.encode(text)) for text in steps)
    assert longest == len(model.tokenizer.encode(alone.text))


def test_setting_is_for_batches_too_and_is_pickled():
    stego = pickle.loads(
        pickle.dumps(
            steganographer(ticore.load_model("tiny-en"), 1, 4, numerics="portable", finish="none")
        )
    )
    [written] = stego.embed_batch([b""])
    assert stego.extract(written) == b""
    assert stego._setup.shortest_of == 4


def test_number_of_texts_is_at_least_one(model):
    with pytest.raises(SettingsError, match=r"shortest_of: expected .* found 0"):
        steganographer(model, 1, 0)
