"""Texts of a server are followed exactly, and at the end of a long one only its end is read."""

from __future__ import annotations

import logging
import random
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from tests.support.tokenizers import HUGGING_FACE
from ticore.consistency import Verification, Verifier
from ticore_masks import RequestSettings, ServedText, ServedTexts, mask_texts

TOKENIZER = HUGGING_FACE["hf-gpt2"]()
WIDTH = TOKENIZER.vocab_size
LONG = TOKENIZER.encode("the quick brown fox sells sea shells " * 200)


@pytest.fixture(scope="module")
def texts() -> ServedTexts:
    return ServedTexts(TOKENIZER, WIDTH, logging.getLogger())


class Counted(list[int]):
    """A list that counts which of its elements are read."""

    read = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.read += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Any:
        self.read += len(self)
        return super().__iter__()


def started(texts: ServedTexts) -> ServedText:
    return texts.start(RequestSettings(), [], [])


def go_on(written: list[int], count: int, draw: random.Random) -> None:
    """Append tokens that the masks allow."""
    text = Verifier(TOKENIZER).start(written)
    for _ in range(count):
        written.append(draw.choice(text.mask().nonzero()[0].tolist()))
        text.push(written[-1])


def test_a_text_is_what_the_engine_has_written_however_its_end_changed(texts: ServedTexts) -> None:
    draw = random.Random(1)
    text, written = started(texts), list[int]()
    for _ in range(300):
        taken_back = draw.choice([0, 0, 0, 1, 3, 60])
        del written[max(0, len(written) - taken_back) :]
        go_on(written, draw.choice([0, 1, 1, 2, 3, 80]), draw)
        found = text.follow(written)
        assert found is not None
        assert found.ids == tuple(written)


def test_another_text_of_fewer_tokens_is_followed(texts: ServedTexts) -> None:
    text = started(texts)
    text.follow(LONG)
    other = LONG[9:200]
    found = text.follow(other)
    assert found is not None
    assert found.ids == tuple(other)


def test_of_a_long_text_the_end_is_read(texts: ServedTexts) -> None:
    text, written = started(texts), Counted(LONG[:-1])
    text.follow(written)
    written.append(LONG[-1])
    written.read = 0
    text.follow(written)
    assert 0 < written.read < 100 < len(LONG)


def test_drafts_copy_no_text_and_are_taken_back(
    texts: ServedTexts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Verification) -> None:
        raise AssertionError("a copy of a long text takes long")

    monkeypatch.setattr(Verification, "__copy__", fail)
    each = [started(texts), started(texts)]
    refused = int((~Verifier(TOKENIZER).start(LONG[:51]).mask()).nonzero()[0][-1])
    drafts = [LONG[50:53], [LONG[50], refused, LONG[52]]]
    verifications = [text.follow(LONG[:50]) for text in each]
    found = mask_texts(torch.zeros(8, WIDTH), verifications, each, drafts)
    expected = torch.ones(8, WIDTH, dtype=torch.bool)  # the last two rows follow the refused draft
    for row, length in enumerate([50, 51, 52, 53, 50, 51]):
        expected[row] = torch.from_numpy(Verifier(TOKENIZER).start(LONG[:length]).mask().copy())
    assert torch.equal(found == 0, expected)
    assert [found and found.ids for found in verifications] == [tuple(LONG[:50])] * 2
