"""Messages of several texts, written and read."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import ticore
import ticore.steganography._long_messages as long_messages
from tests.support.tiny_models import tiny_model
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyBatchModel, ToyModel, ToyTokenizer
from ticore.errors import (
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
    MissingPartsError,
    SettingsError,
    WrongTypeError,
)

KEY = bytes(range(32))


class PortableToy(ToyBatchModel):
    """Its logits are on the grid, so that no text is discarded."""

    def logits_after(self, ids):
        return np.rint(super().logits_after(ids) * 1024) / 1024

    def portable_digest(self):
        return self.digest()


MODEL = PortableToy(TRAINED["hf-gpt2"](), sharpness=1.0, context=200)


def stego(key=KEY, **settings):
    return ticore.Steganographer(
        MODEL, key=key, prompt="the", finish="none", entropy=Random(4).randbytes, **settings
    )


@pytest.mark.parametrize("numerics", ["same-stack", "portable"])
def test_message_of_several_texts_comes_back(numerics):
    message, seen = Random(1).randbytes(140), []
    with pytest.raises(CapacityError, match="embed_parts hides longer messages in several texts"):
        stego(numerics=numerics).embed(message)
    written = stego(numerics=numerics).embed_parts(
        message, batch_size=3, progress=lambda *each: seen.append(each)
    )
    assert len(written) > 3
    assert seen[-1] == (len(written), len(written))
    assert stego(numerics=numerics).extract_parts(written[::-1]) == message


class NearlyAlike(ToyBatchModel):
    """A row of its batches has other last bits than a Decoder, as with XLA."""

    def start_batch(self, prompts, rewindable=None):
        batch = super().start_batch(prompts, rewindable)
        alone = batch.logits
        batch.logits = lambda row: alone(row) * (1 + 1e-5)
        return batch


def test_each_of_several_texts_is_written_as_its_reader_reads_it():
    """With numerics of the same stack: no row of a batch, not even of a batch of one."""
    model = NearlyAlike(TRAINED["hf-gpt2"](), sharpness=1.0, context=200)
    alone = ticore.Steganographer(
        model, key=KEY, prompt="the", finish="none", entropy=Random(4).randbytes
    )
    message = Random(1).randbytes(16)
    written = alone.embed_parts(message, part_size=8)
    assert len(written) > 1
    assert alone.extract_parts(written) == message


@pytest.mark.parametrize("security", ["standard", "compact"])
def test_short_messages_take_one_text(security):
    [written] = stego(security=security).embed_parts(b"hi")
    assert stego(security=security).extract_parts([written]) == b"hi"
    assert stego(security=security).extract(written) == b"hi"
    assert stego(security=security).extract_parts([stego(security=security).embed(b"ho")]) == b"ho"


def test_missing_unreadable_and_mixed_texts_are_told_apart():
    message = Random(2).randbytes(90)
    writer = stego()
    first, second, *rest = writer.embed_parts(message, part_size=30)
    other = writer.embed_parts(Random(3).randbytes(60), part_size=30)
    with pytest.raises(MissingPartsError, match="part 2 of 3 is missing") as caught:
        stego().extract_parts([first, *rest, "the nothing"])
    assert caught.value.missing == (2,)
    assert "; text 3: " in str(caught.value)
    with pytest.raises(ExtractionError, match="parts of 2 messages"):
        stego().extract_parts([first, second, *rest, other[0]])
    with pytest.raises(ExtractionError, match="found part 1 of 3; give the texts of all parts"):
        stego().extract(first)
    assert stego().extract_parts([first, "the nothing", second, *rest, first]) == message
    with pytest.raises(ExtractionError, match="text 1: "):
        stego(key=bytes(32)).extract_parts([first])


def test_parts_have_openers_of_their_own():
    model = tiny_model()
    settings = {"key": KEY, "openers": "en", "finish": "none", "security": "compact"}
    writer = ticore.Steganographer(model, entropy=Random(6).randbytes, **settings)
    reader = ticore.Steganographer(model, **settings)
    message = b"meet me at the old station"
    written = writer.embed_parts(message, part_size=9)
    assert len(written) == 3
    assert reader.extract_parts(written[::-1]) == message
    assert reader.extract_parts([writer.embed(message)]) == message


def test_parts_have_openers_of_the_topic():
    model = tiny_model()
    settings = {"key": KEY, "openers": "en", "finish": "none", "security": "compact"}
    writer = ticore.Steganographer(model, entropy=Random(6).randbytes, **settings)
    written = writer.embed_parts(b"meet me at the station", part_size=6, topic="cooking")
    cooking = writer._setup.openers_about("cooking")
    assert len(written) > 3
    assert all(each.text.startswith(cooking) for each in written)
    with pytest.raises(SettingsError, match="topic: expected one of everyday"):
        writer.embed_parts(b"x", topic="war")


def test_parts_that_were_changed_on_their_way_are_read():
    """Each text by the readings that one text has; a text that is no part does no harm."""
    model = tiny_model()
    settings = {"key": KEY, "prompt": "It was a cold morning", "view": "whole", "finish": "none"}
    stego = ticore.Steganographer(model, entropy=Random(6).randbytes, **settings)
    message = b"meet me at the old station"
    first, *rest = (each.text for each in stego.embed_parts(message, part_size=9))
    wrapped = first.replace(" ", " \n", 1)
    assert wrapped != first
    found = stego.extract_parts_pasted([wrapped, "It was a cold morning, no?", *rest])
    assert (found.message, found.undone) == (message, ("lines wrapped after spaces",))
    assert stego.extract_parts_pasted([first, *rest]).undone == ()
    with pytest.raises(MissingPartsError, match="part 1 of 3 is missing"):
        stego.extract_parts([wrapped, *rest])
    for text in (first, wrapped):
        with pytest.raises(IncompleteMessageError, match="found part 1 of 3") as caught:
            stego.extract_pasted(text)
        assert caught.value.is_part


def test_parts_that_do_not_fit_are_made_smaller():
    message = Random(5).randbytes(120)
    written = stego().embed_parts(message, part_size=1000)
    assert 1 < len(written) < 120
    assert stego().extract_parts(written) == message


def test_error_says_which_size_was_tried_last_and_why(monkeypatch):
    def refuse(*_):
        raise CapacityError("another machine might round a logit differently")

    monkeypatch.setattr(long_messages, "_written", refuse)
    with pytest.raises(CapacityError, match="part of 1 byte: another machine") as found:
        stego().embed_parts(bytes(2000), part_size=1024)
    assert isinstance(found.value.__cause__, CapacityError)


def test_wrong_arguments_are_refused():
    with pytest.raises(SettingsError, match="part_size"):
        stego().embed_parts(b"x", part_size=0)
    with pytest.raises(SettingsError, match="batch_size"):
        stego().extract_parts(["x"], batch_size=0)
    with pytest.raises(ExtractionError, match="expected the texts of a message, found none"):
        stego().extract_parts([])


@pytest.mark.parametrize("given", ["one text", b"", None, 3])
def test_what_is_no_list_of_texts_is_refused(given):
    with pytest.raises(WrongTypeError, match="texts: expected a list"):
        stego().extract_parts(given)


def test_parts_are_halved_from_the_size_of_the_message():
    """A larger part would be the same single part again and again."""
    message = Random(5).randbytes(120)
    written = stego().embed_parts(message, part_size=10**9)
    assert len(written) > 1
    assert stego().extract_parts([each.text for each in written]) == message


@pytest.mark.parametrize("disambiguation", ["stepwise", "none", "mwis", "search"])
def test_a_text_that_the_tokenizer_refuses_does_no_harm(disambiguation):
    model = ToyModel(ToyTokenizer("abcd"))
    stego = ticore.Steganographer(model, key=KEY, prompt="a", disambiguation=disambiguation)
    with pytest.raises(ExtractionError):
        stego.extract("axyz")
    texts = [written.text for written in stego.embed_parts(b"two parts", part_size=5)]
    assert stego.extract_parts(["axyz", *texts]) == b"two parts"
