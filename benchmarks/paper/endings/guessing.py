"""What an observer without the key makes of the place where a text ends.

Each token carries as many bits as it is surprising. So their sum, up to the token where the message
ends, is the message's length and a few bits more:

    "The | old | man | had | a | boat | ."    bits so far: 3.1 9.0 14.2 16.8 18.0 26.5 27.1
    finish="none"      ends with the message: at most 27.1 bits, so 3 bytes
    finish="sentence"  ends with the sentence: the message ended somewhere in it, after 3.1 bits or
                       more and after 26.5 at the latest, so 0 to 3 bytes; the middle is best
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .plan import AT_ONCE, PAPER

SLACK = 8.0
"""Bits by which the sum exceeds a message that has just ended, at most, in nearly all texts."""


class Guess(NamedTuple):
    """How many bytes may be hidden in a text: a message with what sealing adds, or raw bytes.

    Attributes:
        best: the guess.
        least, most: what else it may be.
    """

    best: int
    least: int
    most: int


def guess(ending: str, surprisals: Sequence[float], sentence_ends: Sequence[int]) -> Guess:
    """The observer's guess of how many bytes are hidden.

    Args:
        ending: one of `plan.WITH_MESSAGE`; it is a public setting.
        surprisals: bits of each token; at least one.
        sentence_ends: the tokens that end a sentence, ascending.
    """
    sums = np.cumsum([0.0, *surprisals])  # sums[t]: before token t
    last = len(surprisals) - 1
    if ending == PAPER:
        # This rule stops a little before or after all bits are settled.
        return Guess(round(sums[-1] / 8), _bytes(sums[-1] - SLACK), _bytes(sums[-1] + SLACK))
    if ending == AT_ONCE:
        return Guess(_bytes(sums[-1]), _bytes(sums[last] - SLACK) + 1, _bytes(sums[-1]))
    # The message ended at the last end of a sentence or later, and before the last token.
    earlier = [at for at in sentence_ends if at < last]
    begin = earlier[-1] if earlier else 0
    least, most = _bytes(sums[begin] - SLACK) + 1, _bytes(sums[last])
    return Guess((_bytes(sums[begin + 1]) + most) // 2, least, most)


def _bytes(bits: float) -> int:
    """Whole bytes in this many bits; 0 of a negative number."""
    return max(0, int(bits // 8))
