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
import numpy.typing as npt

from ticore.steganography._frame import TAG_BYTES
from ticore.steganography._padding import padded_size

from .plan import AT_ONCE, PAPER, USUAL

Floats = npt.NDArray[np.float64]

LARGEST = 1024
"""Bytes of the largest plaintext that an observer thinks of."""

SLACK = 8.0
"""Bits by which the sum exceeds a message that has just ended, at most, in nearly all texts."""


FRAME = TAG_BYTES + 1
"""Bytes around the plaintext of a frame, while its length takes one of them."""


class Guess(NamedTuple):
    """How many bytes may be hidden in a text: a message with what sealing adds, or raw bytes.

    Attributes:
        best: the guess.
        least, most: what else it may be.
        possible: how many numbers it may be.
    """

    best: int
    least: int
    most: int
    possible: int

    @classmethod
    def between(cls, best: int, least: int, most: int) -> Guess:
        """A guess of which all numbers between two are possible."""
        return cls(best, least, most, most - least + 1)


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
        return Guess.between(
            round(sums[-1] / 8), _bytes(sums[-1] - SLACK), _bytes(sums[-1] + SLACK)
        )
    if ending == AT_ONCE:
        return Guess.between(_bytes(sums[-1]), _bytes(sums[last] - SLACK) + 1, _bytes(sums[-1]))
    if ending == USUAL:
        return _guess_of_size(sums, [at for at in sentence_ends if at <= last])
    # The message ended at the last end of a sentence or later, and before the last token.
    earlier = [at for at in sentence_ends if at < last]
    begin = earlier[-1] if earlier else 0
    least, most = _bytes(sums[begin] - SLACK) + 1, _bytes(sums[last])
    return Guess.between((_bytes(sums[begin + 1]) + most) // 2, least, most)


def _guess_of_size(sums: Floats, ends: Sequence[int]) -> Guess:
    """The guess for a text that goes on to a sentence which chance picks.

    Frames have a few sizes. A frame that ended in the last sentence is followed by no other end of
    a sentence, which happens half of the time; by one a quarter of the time, and so on.
    """
    weights: dict[int, float] = {}
    sizes = sorted({padded_size(size) + FRAME for size in range(LARGEST)})
    begins = [0, *ends[:-1]] if ends else [0]
    stops = ends or [len(sums) - 1]
    for back, (begin, end) in enumerate(zip(reversed(begins), reversed(stops), strict=True)):
        for size in sizes:
            if sums[begin] - SLACK <= 8 * size <= sums[end]:
                weights[size] = max(weights.get(size, 0.0), 2.0 ** -(back + 1))
    if not weights:
        return Guess(0, 0, 0, 1)
    best = max(weights, key=lambda size: weights[size])
    return Guess(best, min(weights), max(weights), len(weights))


def _bytes(bits: float) -> int:
    """Whole bytes in this many bits; 0 of a negative number."""
    return max(0, int(bits // 8))
