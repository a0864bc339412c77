"""What the tokens of a text tell about the message, and the frames that fit best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...codecs import Weights
from .outer_code import OuterCode
from .trellis import STATES, Numbers, Scores, best_path, steps_for
from .windows import NUMBER_BITS

_LEAST_DOUBT = 0.02  # even if nobody edits: another machine's numbers may differ a little


def doubt_of(edits: float, window: int) -> float:
    """The share of tokens that tell nothing: those that were edited, and as many after each.

    Args:
        edits: the share of tokens that are edited.
        window: how many tokens each one is read with.
    """
    return max(_LEAST_DOUBT, 1 - (1 - edits) ** (window + 1))


def bounds_of(weights: Weights, index: int) -> tuple[int, int]:
    """The numbers that choose `index`, from the first to before the second.

    Args:
        weights: int64[n], summing to a power of two of at most 2^32.
        index: 0 to n - 1.
    """
    ends = np.cumsum(weights)
    scale = NUMBER_BITS - (int(ends[-1]).bit_length() - 1)
    end = int(ends[index])
    return (end - int(weights[index])) << scale, end << scale


def chosen_by(number: int, weights: Weights) -> int:
    """The index that a number chooses, each as often as its weight says; see `bounds_of`."""
    ends = np.cumsum(weights)
    scaled = number >> NUMBER_BITS - (int(ends[-1]).bit_length() - 1)
    return int(np.searchsorted(ends, scaled, side="right"))


@dataclass(frozen=True)
class Clue:
    """What one token tells.

    Attributes:
        place: the step that it is about, modulo the length of the trellis.
        fits: bool[STATES], the states whose numbers would have chosen it.
        bits: how much it tells, if it was not edited: -log2 of its probability.
    """

    place: int
    fits: npt.NDArray[np.bool_]
    bits: float

    @classmethod
    def of(cls, place: int, numbers: Numbers, bounds: tuple[int, int]) -> Clue:
        """That one of `bounds`, which `bounds_of` gave, was chosen by one of these numbers."""
        low, high = bounds
        fits = (numbers >= np.uint64(low)) & (numbers < np.uint64(high))
        return cls(place, fits, NUMBER_BITS - math.log2(high - low))

    def gain(self, doubt: float) -> float:
        """How much more likely the token is from a state that fits than from others, as a log.

        Args:
            doubt: how probable it is that the token tells nothing. Then it is chosen by chance.
        """
        return math.log((1 - doubt) * 2**self.bits / doubt + 1)


def most_bits(clues: Sequence[Clue]) -> float:
    """How many bits the clues can tell in all."""
    return sum(clue.bits for clue in clues)


def frames_of(clues: Sequence[Clue], length: int, doubt: float) -> Iterator[bytes]:
    """The frames of one length that fit what the tokens tell, the best first.

    Args:
        clues: of the tokens.
        length: of the frames, in bytes.
        doubt: see `Clue.gain`.
    """
    code = OuterCode(length)
    margins = best_path(_scores(clues, steps_for(8 * code.size), doubt))
    symbols = np.packbits(margins > 0).tobytes()
    yield from code.decode(symbols, np.abs(margins).reshape(-1, 8).min(axis=1))


def _scores(clues: Sequence[Clue], steps: int, doubt: float) -> Scores:
    scores = np.zeros((steps, STATES), dtype=np.float32)
    for clue in clues:
        scores[clue.place % steps] += np.float32(clue.gain(doubt)) * clue.fits
    return scores
