"""Tokens between two blocks are no standstill, and tokens without a choice are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.steganography._embedding import STALL_TOKENS
from ticore.steganography._pending_bits import PendingBits

FOUR = np.array([128, 64, 32, 32])
CERTAIN = np.array([(1 << 32) - 1, 1])


class Writer:
    """Settles `block` bits with every `every`-th choice."""

    def __init__(self, block: int, every: int) -> None:
        self.settled, self.done = 0, False
        self._block, self._every, self._count = block, every, 0

    def choose(self, weights: object) -> int:
        self._count += 1
        self.settled += self._block if self._count % self._every == 0 else 0
        return 0


def test_what_tokens_can_carry_is_pending_until_their_block_is_settled() -> None:
    writer = Writer(block=8, every=4)
    pending, counts = PendingBits(writer), []
    for index in (1, 3, 0, 0, 2):
        writer.choose(FOUR)
        pending.see(FOUR, index)
        counts.append(pending.count)
    assert counts == [2, 5, 6, 0, 3]


@pytest.mark.parametrize(("weights", "stalled"), [(FOUR, 0), (CERTAIN, 100), (CERTAIN[:1], 100)])
def test_only_tokens_that_hardly_leave_a_choice_count_as_stalled(
    weights: np.ndarray, stalled: int
) -> None:
    writer = Writer(block=1024, every=1024)
    pending = PendingBits(writer)
    for _ in range(100):
        writer.choose(weights)
        pending.see(weights, 0)
    assert pending.stalled == stalled


def test_embed_goes_on_with_a_block_that_takes_many_tokens() -> None:
    """Each of them has a choice, of 0.5 bits or so."""
    stego = Steganographer(
        ToyModel(ToyTokenizer(["a", "b"]), sharpness=2.0),
        key=bytes(32),
        codec="sparsamp:512",
        disambiguation="basic",
        finish="none",
        entropy=random.Random(1).randbytes,
    )
    text = stego.embed(b"hi")
    assert text.token_count > STALL_TOKENS
    assert stego.extract(text) == b"hi"
