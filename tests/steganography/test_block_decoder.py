"""A text read in blocks says what reading it token by token says, in fewer passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyDecoder, ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.errors import InconsistentStateError
from ticore.interfaces import Logits, ManyTokenDecoder
from ticore.steganography._block_decoder import ALONE, BLOCK, BlockDecoder
from ticore.steganography._jobs import NewText, decoder_of_its_own

MODEL = ToyModel(ToyTokenizer(["", "a", "b", "ab", "c"]))
IDS = [3, 4, 1, 1, 2] * 12


class Many(ToyDecoder):
    """Counts the passes that a real model would take."""

    def __init__(self) -> None:
        super().__init__(MODEL, [1, 2])
        self.blocks: list[int] = []

    def push_many(self, tokens: Sequence[int]) -> Logits:
        self.blocks.append(len(tokens))
        rows = []
        for token in tokens:
            self.push(token)
            rows.append(self.logits())
        return np.array(rows)


def test_block_decoder_gives_the_logits_of_the_text() -> None:
    many = Many()
    known, alone = BlockDecoder(many, IDS), MODEL.start([1, 2])
    for token in IDS:
        assert list(known.ids) == list(alone.ids)
        assert np.array_equal(known.logits(), alone.logits())
        known.push(token)
        alone.push(token)
    assert np.array_equal(known.logits(), alone.logits())
    assert many.blocks == [*[BLOCK] * 3, len(IDS) - ALONE - 3 * BLOCK]


def test_block_decoder_reads_no_logits_that_nobody_asks_for() -> None:
    many = Many()
    known = BlockDecoder(many, IDS)
    for token in IDS[:20]:
        known.push(token)
    assert len(many.ids) == 2
    assert np.array_equal(known.logits(), MODEL.logits_after([1, 2, *IDS[:20]]))


def test_block_decoder_refuses_other_tokens_and_going_back() -> None:
    known = BlockDecoder(Many(), IDS)
    with pytest.raises(InconsistentStateError, match="own token at position 2, found 4"):
        known.push(4)
    known.push(IDS[0])
    known.logits()
    known.rewind(1)
    with pytest.raises(InconsistentStateError, match="goes back to its token 0"):
        known.logits()


def test_a_known_text_is_read_in_blocks_where_the_model_can() -> None:
    text = NewText([5, 6], [7, 8])
    assert isinstance(decoder_of_its_own(ticore.load_model("tiny-en"), text), BlockDecoder)
    assert isinstance(decoder_of_its_own(MODEL, NewText([1], [2])), ToyDecoder)
    assert decoder_of_its_own(MODEL, NewText([1])) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny-en", "tiny-zh"])
def test_reader_takes_fewer_passes_than_the_text_has_tokens(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ticore.load_model(name)
    draw = np.random.default_rng(0).bytes
    stego = Steganographer(model, key=bytes(range(32)), prompt="", entropy=draw)
    written = stego.embed(b"a message of some bytes")
    pushed: list[int] = []
    reads = type(model.start([5])).push

    def push(decoder: ManyTokenDecoder, token: int) -> None:
        pushed.append(token)
        reads(decoder, token)

    monkeypatch.setattr(type(model.start([5])), "push", push)
    assert stego.extract(written.text) == b"a message of some bytes"
    assert len(pushed) == ALONE
