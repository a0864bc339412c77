"""Where a text ends after its message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import ticore
from tests.support.tiny_models import tiny_model

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def model():
    return tiny_model()


def sentences(text: str) -> int:
    return sum(text.count(mark) for mark in ".!?")


@pytest.mark.slow
def test_sentences_after_the_message_are_as_many_as_chance_has_it(model):
    """A text ends at its first end of a sentence with probability 1/2, at the next with 1/4, ..."""
    more = Counter()
    for seed in range(8):
        first, some = (
            ticore.Steganographer(
                model,
                key=KEY,
                prompt="One day",
                finish=finish,
                security="compact",
                compress="deflate",
                pad="none",
                entropy=np.random.default_rng(seed).bytes,
            )
            .embed(b"")
            .ids
            for finish in ("sentence", "sentences")
        )
        more[len(some) > len(first)] += 1
    assert 1 <= more[True] <= 7


@pytest.mark.parametrize("finish", ["sentence", "sentences"])
def test_text_ends_with_a_sentence(model, finish):
    stego = ticore.Steganographer(
        model, key=KEY, prompt="One day", finish=finish, entropy=np.random.default_rng(1).bytes
    )
    written = stego.embed(b"noon")
    assert written.text.rstrip("\"' \n”’").endswith((".", "!", "?"))
    assert stego.extract(written) == b"noon"
