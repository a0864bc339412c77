"""Texts that begin alike are read as each alone would be, with fewer passes of the model."""

from __future__ import annotations

import numpy as np
import pytest

import ticore
from ticore.errors import OutsidePoolError
from ticore.steganography._block_decoder import BLOCK
from ticore.steganography._rereading import PassLimit, PassLimitError, Rereading

KEY = bytes(range(32))


class Counting:
    """A model that counts the tokens it is given after prompts."""

    def __init__(self, model):
        self._model = model
        self.pushed = 0

    def __getattr__(self, name):
        return getattr(self._model, name)

    def start(self, ids):
        decoder = self._model.start(ids)
        push, push_many = decoder.push, decoder.push_many

        def counted(token):
            self.pushed += 1
            push(token)

        def all_counted(tokens):
            self.pushed += len(tokens)
            return push_many(tokens)

        decoder.push, decoder.push_many = counted, all_counted
        return decoder


@pytest.mark.parametrize(
    "settings",
    [{}, {"codec": "discop", "disambiguation": "syncpool", "compress": "model"}],
)
def test_variants_are_read_as_each_alone(settings):
    model = Counting(ticore.load_model("tiny-en"))
    stego = ticore.Steganographer(
        model, key=KEY, prompt="One day", entropy=np.random.default_rng(2).bytes, **settings
    )
    text = stego.embed(b"noon").text
    at = text.index(" ", len(text) // 2)
    changed = f"{text[:at]} qqq{text[at:]}"
    with pytest.raises(OutsidePoolError) as alone:
        stego.extract(changed)
    model.pushed = 0
    needed = []
    rereading = Rereading(stego._setup, PassLimit(10_000, lambda: needed.append(1)))
    for _ in range(2):
        with pytest.raises(OutsidePoolError) as again:
            rereading.message(changed)
        assert again.value.place.start == alone.value.place.start
    to_the_change = len(needed)
    assert rereading.message(text) == b"noon"
    after_it = len(needed) - to_the_change
    assert model.pushed <= len(needed) + 2 * BLOCK  # of the two texts, each read once
    whole = []
    assert stego.extract(text, progress=lambda *_: whole.append(1)) == b"noon"
    assert after_it <= len(whole) - to_the_change + 6
    assert rereading.message(text) == b"noon"


def test_passes_are_limited():
    stego = ticore.Steganographer(
        ticore.load_model("tiny-en"),
        key=KEY,
        prompt="One day",
        entropy=np.random.default_rng(2).bytes,
    )
    text = stego.embed(b"noon").text
    with pytest.raises(PassLimitError):
        Rereading(stego._setup, PassLimit(5)).message(text)
