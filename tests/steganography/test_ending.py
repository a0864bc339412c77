"""Where a text ends after its message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import ticore
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import CapacityError
from ticore.steganography import _embedding
from ticore.steganography._text_state import TextState

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


@pytest.mark.parametrize("finish", ["sentence", "sentences", "turn"])
def test_text_ends_where_nothing_can_follow_its_message(finish, monkeypatch):
    stego = ticore.Steganographer(
        ToyModel(ToyTokenizer([chr(0x4E00 + n) for n in range(64)]), sharpness=0.5),
        key=KEY,
        finish=finish,
        entropy=np.random.default_rng(1).bytes,
    )
    done = []

    def rest_begun(writer, really=_embedding.rest_begun):
        done.append(writer.done)
        return really(writer)

    def next_step(state, really=TextState.next_step):
        if any(done):
            raise CapacityError("the model leaves no choice here")
        return (yield from really(state))

    with monkeypatch.context() as patched:
        patched.setattr(_embedding, "rest_begun", rest_begun)
        patched.setattr(TextState, "next_step", next_step)
        written = stego.embed(b"noon")
    assert any(done)
    assert len(written.ids) == written.token_count
    assert stego.extract(written) == b"noon"


def test_a_text_that_is_full_where_it_may_not_end_is_written_again(model, monkeypatch):
    """Its message is complete, and another text may end in time."""
    stego = ticore.Steganographer(
        model, key=KEY, prompt="One day", finish="none", entropy=np.random.default_rng(1).bytes
    )
    asked = Counter()

    def may_end(state, really=TextState.may_end):
        asked[state] += 1
        return len(asked) > 2 and really(state)

    def next_step(state, really=TextState.next_step):
        if asked[state]:
            raise CapacityError("the model's context is full")
        return (yield from really(state))

    monkeypatch.setattr(TextState, "may_end", may_end)
    monkeypatch.setattr(TextState, "next_step", next_step)
    written = stego.embed(b"noon")
    assert written.given_up == ("room", "room")
    monkeypatch.undo()
    assert stego.extract(written) == b"noon"


def test_a_text_that_is_always_full_where_it_may_not_end_gives_an_error(model, monkeypatch):
    stego = ticore.Steganographer(model, key=KEY, prompt="One day", finish="none")
    monkeypatch.setattr(TextState, "may_end", lambda state: False)
    monkeypatch.setattr("ticore.steganography._embedding.write_one", full)
    with pytest.raises(CapacityError, match="cannot end where it is: the context is full"):
        stego.embed(b"noon")


def full(*_):
    yield from ()
    raise CapacityError("the context is full")
