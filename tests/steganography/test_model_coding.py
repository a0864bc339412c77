"""Messages that the model makes shorter: each comes back, or is refused before it is sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ticore
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import ExtractionError
from ticore.steganography._jobs import Job, run_alone
from ticore.steganography._model_coding import MOST_TOKENS, coded_by_model, decoded_by_model
from ticore.steganography._portability import TOLERANCE

KEY = bytes(range(32))
GRID_BITS = 8


def setup_of(model, **settings_):
    return ticore.Steganographer(model, key=KEY, prompt="the", **settings_)._setup


TOYS = {name: setup_of(ToyModel(TRAINED[name](), sharpness=2.0)) for name in ("sp-bpe", "hf-gpt2")}
words = st.lists(st.sampled_from(["the", " fox", " 東京", "!", "\n", " ", "é", "x"]), max_size=12)


@settings(max_examples=40)
@given(st.sampled_from(sorted(TOYS)), words.map("".join).map(str.encode) | st.binary(max_size=9))
@example("sp-bpe", b"")
@example("sp-bpe", b" ")
def test_coded_messages_come_back(name: str, message: bytes) -> None:
    setup = TOYS[name]
    data = run_alone(setup.model, coded_by_model(setup, message))
    if data is not None:
        assert run_alone(setup.model, decoded_by_model(setup, data)) == message


@settings(max_examples=40)
@given(st.sampled_from(sorted(TOYS)), st.binary(max_size=12))
def test_any_data_gives_a_text_or_an_error(name: str, data: bytes) -> None:
    setup = TOYS[name]
    with suppress(ExtractionError):
        assert isinstance(run_alone(setup.model, decoded_by_model(setup, data)), bytes)


class NearAnEdge(ToyModel):
    """One logit lies so near to where rounding goes another way that a writer is just sure of it.

    Args:
        higher: by how much all logits are higher on this machine.
    """

    def __init__(self, higher: float) -> None:
        super().__init__(TRAINED["hf-gpt2"](), sharpness=2.0)
        self._higher = higher
        (self._near,) = self.tokenizer.encode("x")

    def logits_after(self, ids):
        logits = np.rint(super().logits_after(ids) * 2**GRID_BITS)
        logits[self._near] += 0.5
        logits /= 2**GRID_BITS
        logits[self._near] -= 1.25 * TOLERANCE
        return logits + self._higher

    def portable_digest(self):
        return self.digest()


def test_a_reader_nearer_to_an_edge_has_the_weights_that_the_writer_was_sure_of() -> None:
    message = b"the fox"
    writer, reader = (
        setup_of(NearAnEdge(higher), numerics="portable", grid_bits=GRID_BITS)
        for higher in (0.0, TOLERANCE / 2)
    )
    data = run_alone(writer.model, coded_by_model(writer, message))
    assert data is not None
    assert run_alone(reader.model, decoded_by_model(reader, data)) == message


@pytest.mark.parametrize("message", [b"\xff", b"the " * (4 * MOST_TOKENS), b""])
def test_what_is_no_short_text_is_left_as_it_is(message: bytes) -> None:
    assert run_alone(TOYS["hf-gpt2"].model, coded_by_model(TOYS["hf-gpt2"], message)) is None


def test_window_makes_no_room_for_a_message_that_the_model_reads_whole() -> None:
    """With a window a text may be longer than the context; the coded message may not."""
    model = ToyModel(TRAINED["hf-gpt2"](), sharpness=2.0, context=64)
    stego = ticore.Steganographer(
        model,
        key=KEY,
        prompt="the fox " * 29,
        window=2,
        security="compact",
        entropy=np.random.default_rng(4).bytes,
    )
    assert 50 < len(stego._setup.prompt_ids) < 64
    message = b"the fox and the old house"
    assert stego.extract(stego.embed(message)) == message


@pytest.mark.parametrize("numerics", ["same-stack", "portable"])
def test_english_takes_a_third_of_its_bytes_with_a_model_of_english(numerics: str) -> None:
    message = b"meet me at the station at nine"
    model = ticore.load_model("tiny-en")
    entropy = np.random.default_rng(2).bytes
    stego = ticore.Steganographer(
        model, key=KEY, security="compact", pad="none", numerics=numerics, entropy=entropy
    )
    written = stego.embed(message)
    assert stego.extract(written) == message
    assert written.bits < 8 * (9 + len(message) / 2)


@pytest.mark.parametrize("compress", ["deflate", "model"])
def test_message_that_does_not_become_shorter_is_sent_as_it_is(compress: str) -> None:
    message, entropy = bytes(range(200, 212)), np.random.default_rng(3).bytes
    stego = ticore.Steganographer(
        TOYS["hf-gpt2"].model, key=KEY, compress=compress, pad="none", entropy=entropy
    )
    written = stego.embed(message)
    assert written.bits == 8 * (16 + 1 + 4 + len(message))
    assert stego.extract(written) == message


def test_message_that_the_model_does_not_give_back_is_sent_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The writer reads what it coded, and finds another message."""

    def giving(found: bytes) -> Callable[..., Job[bytes]]:
        def job(*_: object) -> Job[bytes]:
            yield from ()
            return found

        return job

    stego = ticore.Steganographer(
        ToyModel(ToyTokenizer(["\n", *(chr(0x4E00 + n) for n in range(63))]), sharpness=0.5),
        key=KEY,
        compress="model",
        finish="none",
        entropy=np.random.default_rng(5).bytes,
    )
    message = b"the old fox and the house"
    with monkeypatch.context() as patched:
        writing = "ticore.steganography._sealed_writing"
        patched.setattr(f"{writing}.coded_by_model", giving(b"x"))
        patched.setattr(f"{writing}.decoded_by_model", giving(b"another"))
        written = stego.embed(message)
    assert stego.extract(written) == message


def test_message_without_tokens_is_sent_as_it_is() -> None:
    model = ToyModel(ToyTokenizer(["", *"abcdefgh", "ab"]), seed=2)
    for settings_ in ({"security": "compact"}, {"compress": "model"}):
        stego = ticore.Steganographer(model, key=KEY, prompt="a", **settings_)
        for message in (b"hi", b"ab"):
            assert stego.extract(stego.embed(message).text) == message
