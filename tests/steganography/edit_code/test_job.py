"""Messages whose texts are edited on the way."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import (
    AlteredTextError,
    CapacityError,
    CredentialError,
    ExtractionError,
    SettingsError,
)
from ticore.steganography._edit_code.job import MOST_FRAME_BYTES

KEY = bytes(range(32))
EDITS, WINDOW = 0.05, 3


MODEL = ToyModel(ToyTokenizer(f"{letter} " for letter in "abcdefghijklmnop"), sharpness=1)


def steganographer(model=MODEL, seed=5, **settings):
    settings = {"key": KEY, "prompt": "a b ", "window": WINDOW, "edits": EDITS} | settings
    settings = {"security": "compact", "finish": "none", "compress": "deflate"} | settings
    return ticore.Steganographer(model, entropy=np.random.default_rng(seed).bytes, **settings)


@cache
def written(**settings):
    stego = steganographer(**settings)
    return stego, stego.embed(b"at noon")


def edited(text, share, random):
    """A text in which each word is dropped, replaced or followed by another one by chance."""
    result = ""
    for word in text.split():
        other = random.choice("abcdefghijklmnop")
        edits = ["", f"{other} ", f"{word} {other} "]
        result += random.choice(edits) if random.random() < share else f"{word} "
    return result


@settings(max_examples=3)
@example(seed=0, share=0)
@given(seed=st.integers(0, 999), share=st.floats(0, EDITS))
def test_message_is_read_after_edits(seed, share):
    stego, sent = written()
    assert stego.extract(edited(sent.text, share, Random(seed))) == b"at noon"


def test_message_is_read_without_the_beginning_and_after_other_text():
    stego, sent = written()
    assert stego.extract(sent.text[8:]) == b"at noon"
    assert stego.extract("c o p i e d " + sent.text + "a n d m o p e ") == b"at noon"


@settings(max_examples=2)
@given(st.integers(0, 999))
def test_too_many_edits_give_an_error_or_the_message(seed):
    stego, sent = written()
    with suppress(AlteredTextError):
        assert stego.extract(edited(sent.text, 0.5, Random(seed))) == b"at noon"


@pytest.mark.parametrize("text", ["", "a b ", "a " * 300, "a b \udcff"])
def test_other_texts_give_an_error(text):
    with pytest.raises(ExtractionError, match=r"allows for \(0\.05 of its tokens\)|surrogate"):
        steganographer().extract(text)


@pytest.mark.parametrize("other", [{"key": bytes(32)}, {"edits": 0.04}, {"prompt": "a c "}])
def test_other_settings_give_an_error(other):
    with pytest.raises(AlteredTextError):
        steganographer(**other).extract(written()[1])


def test_text_is_longer_for_more_edits():
    assert written(edits=0.12)[1].token_count > written()[1].token_count


@pytest.mark.parametrize("check", ["tokens", "full"])
def test_check_is_right(check):
    stego = steganographer()
    assert stego.extract(stego.embed(b"", check=check)) == b""


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(SettingsError, match="pad: expected sizes beside edits, found 'none'"):
        steganographer(pad="none")
    with pytest.raises(CredentialError, match="expected a key where edits are allowed for"):
        steganographer(key=None, password="p").embed(b"")
    with pytest.raises(SettingsError, match="edits: expected 0 for raw bits"):
        steganographer().embed_bits([1, 0])


def test_long_messages_are_refused_before_they_are_written():
    with pytest.raises(CapacityError, match="at most about 1,015 bytes after padding, found 1,279"):
        steganographer().embed(bytes(Random(1).randbytes(MOST_FRAME_BYTES)))


def test_tokens_are_samples_of_the_model():
    """Each of two equally likely words is written in half of the places, whatever the message."""
    model, counts = ToyModel(ToyTokenizer(["a ", "b "]), sharpness=0), Counter()
    for seed in range(2):
        stego = steganographer(model, seed, prompt="", window=12, edits=0.01)
        counts.update(stego.embed(b"").ids)
    total = counts.total()
    assert total > 200
    assert abs(counts[0] - total / 2) < 4 * (total / 4) ** 0.5
