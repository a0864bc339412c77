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


# As fast as a toy, with a tokenizer that is often inconsistent.
MODEL = ToyModel(ticore.load_model("tiny-en").tokenizer, sharpness=2)


def steganographer(model=MODEL, seed=5, **settings):
    settings = {"key": KEY, "prompt": "One day", "window": WINDOW, "edits": EDITS} | settings
    settings = {"security": "compact", "finish": "none", "compress": "deflate"} | settings
    return ticore.Steganographer(model, entropy=np.random.default_rng(seed).bytes, **settings)


@cache
def written(**settings):
    stego = steganographer(**settings)
    return stego, stego.embed(b"at noon")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text,
        lambda text: text.split(" ", 1)[1],
        lambda text: text[0].lower() + text[1:],
        lambda text: " ".join([text.split(" ")[0], "green", *text.split(" ")[2:]]),
    ],
    ids=["none", "dropped", "small letter", "replaced"],
)
def test_an_opener_may_be_edited_as_a_prompt_may(edit):
    stego, sent = written(prompt="", openers="en")
    assert stego.extract(edit(sent.text)) == b"at noon"


def edited(text, share, random):
    """A text in which each word is dropped, replaced or followed by another one by chance."""
    words, result = text.split(" "), []
    for word in words:
        other = random.choice(words)
        edits = [[], [other], [word, other]]
        result += random.choice(edits) if random.random() < share else [word]
    return " ".join(result)


@settings(max_examples=3)
@example(seed=0, share=0)
@given(seed=st.integers(0, 999), share=st.floats(0, EDITS))
def test_message_is_read_after_edits(seed, share):
    stego, sent = written()
    assert stego.extract(edited(sent.text, share, Random(seed))) == b"at noon"


def test_message_is_read_without_the_beginning_and_after_other_text():
    stego, sent = written()
    assert stego.extract(sent.text[8:]) == b"at noon"
    assert stego.extract("I found this: " + sent.text + " And so on.") == b"at noon"


@settings(max_examples=2)
@given(st.integers(0, 999))
def test_too_many_edits_give_an_error_or_the_message(seed):
    stego, sent = written()
    with suppress(AlteredTextError):
        assert stego.extract(edited(sent.text, 0.5, Random(seed))) == b"at noon"


@pytest.mark.parametrize("text", ["", "One day", "a" * 300, "One day \udcff", "日本語" * 50])
def test_other_texts_give_an_error(text):
    with pytest.raises(ExtractionError, match=r"allows for \(0\.05 of its tokens\)|surrogate"):
        steganographer().extract(text)


def test_a_text_that_the_tokenizer_refuses_is_an_extraction_error():
    tokenizer = ToyTokenizer(["", *"abcdefgh ", "ab", "bc", " a"])
    stego = ticore.Steganographer(
        ToyModel(tokenizer, seed=2, context=400),
        key=KEY,
        prompt="a",
        window=4,
        edits=0.02,
        security="compact",
        compress="deflate",
    )
    with pytest.raises(ExtractionError, match="expected one that the pieces spell"):
        stego.extract("ab\u00e9d")
    text = stego.embed(b"hi").text
    assert stego.extract_parts(["ab\u00e9d", text]) == b"hi"


@pytest.mark.parametrize("other", [{"key": bytes(32)}, {"edits": 0.04}, {"prompt": "One night"}])
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
    model = ToyModel(ToyTokenizer(["a ", "b "]), sharpness=0)
    ids = steganographer(model, prompt="", window=12, edits=0.01).embed(b"").ids
    assert len(ids) > 100
    assert abs(Counter(ids)[0] - len(ids) / 2) < 4 * (len(ids) / 4) ** 0.5
