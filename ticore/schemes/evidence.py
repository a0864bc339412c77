"""What the tokens of a text say about a watermark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Odd, and without a pattern: multiplied with them, any bits of a number reach the highest ones.
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_FEW = 2000  # so many draws are sorted faster than they are hashed


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tokens that a scheme can score, in the text's order: arrays of one length n.

    Attributes:
        positions: int64[n], where they stand in the list of tokens.
        seeds: int64[n], what their random numbers are drawn from: any 64 bits.
        draws: int64[n], what counts once: of equal ones only the first says something. Mostly they
            tell which random number a token has; see `draws`.
        scores: float64[n].
    """

    positions: Ints
    seeds: Ints
    draws: Ints
    scores: Floats

    def __len__(self) -> int:
        return len(self.draws)

    def distinct(self) -> Evidence:
        """The first of each draw.

        To count it again says nothing new, and would make repetitive text look watermarked
        (Fernandez et al. 2023, section 3.2).
        """
        return self.where(np.flatnonzero(firsts(self.draws)))

    def where(self, which: Ints | npt.NDArray[np.bool_] | slice) -> Evidence:
        """The rows that an index selects."""
        return Evidence(
            self.positions[which], self.seeds[which], self.draws[which], self.scores[which]
        )


@dataclass(frozen=True, eq=False)
class Evidences:
    """The evidence of many texts, one text after the other.

    Attributes:
        all: of all texts; positions count from the beginning of each text.
        bounds: int64[texts + 1]: text t has the rows from `bounds[t]` to before `bounds[t + 1]`.
    """

    all: Evidence
    bounds: Ints

    @classmethod
    def of(cls, one: Evidence) -> Evidences:
        """Of one text."""
        return cls(one, np.array([0, len(one)]))

    def text(self, at: int) -> Evidence:
        """Of text number `at`."""
        return self.all.where(slice(int(self.bounds[at]), int(self.bounds[at + 1])))

    @property
    def lengths(self) -> Ints:
        """int64[texts]: how many rows each text has."""
        lengths: Ints = self.bounds[1:] - self.bounds[:-1]
        return lengths

    @property
    def numbers(self) -> Ints:
        """int64[n]: which text each row is of."""
        return np.repeat(np.arange(len(self.bounds) - 1), self.lengths)

    @cached_property
    def totals(self) -> Floats:
        """float64[texts]: the sum of each text's scores. It does not depend on the other texts."""
        starts = self.bounds[:-1]
        some = self.lengths > 0
        sums = np.zeros(len(starts))
        if len(self.all):  # `reduceat` takes an empty stretch for one of length 1
            sums[some] = np.add.reduceat(self.all.scores, starts[some])
        return sums

    def distinct(self) -> Evidences:
        """The first of each draw in each text: `Evidence.distinct` of each."""
        if len(self.bounds) == 2:
            return Evidences.of(self.all.distinct())
        return self.where(firsts(self.all.draws, self.numbers))

    def where(self, which: npt.NDArray[np.bool_]) -> Evidences:
        """The rows for which `which`, bool[n], is True; texts keep their places."""
        before = np.concatenate([[0], np.cumsum(which)])
        return Evidences(self.all.where(which), before[self.bounds])


def firsts(draws: Ints, texts: Ints | None = None) -> npt.NDArray[np.bool_]:
    """bool[n]: whether a draw is the first of its kind, in its text if `texts` says in which it is.

    >>> firsts(np.array([7, 8, 7, 7])).tolist()
    [True, True, False, False]
    """
    found = np.zeros(len(draws), np.bool_)
    if texts is None and len(draws) <= _FEW:
        order = np.argsort(draws, kind="stable")
        there = draws[order]
        found[order[:1]] = True
        found[order[1:]] = there[1:] != there[:-1]
        return found
    texts = np.zeros(len(draws), np.int64) if texts is None else texts
    bits = max(len(draws) * 2, 2).bit_length()
    table = np.empty(1 << bits, np.intp)
    shift = np.uint64(64 - bits)
    pending, turn = np.arange(len(draws)), 0
    while len(pending):
        # Each draw is written to a place of the table, the last one first, so that the first one
        # stays. Where another kind took the place, the next turn decides, with other places.
        draw, text = draws[pending], texts[pending]
        mixed = draw.view(np.uint64) * np.uint64(_FACTORS[0] + 2 * turn)
        mixed ^= (mixed >> np.uint64(29)) ^ text.view(np.uint64) * np.uint64(_FACTORS[2])
        places = (mixed * np.uint64(_FACTORS[1] + 2 * turn) >> shift).view(np.int64)
        table[places[::-1]] = pending[::-1]
        winners = table[places]
        found[winners] = True
        other = (draws[winners] != draw) | (texts[winners] != text)
        pending, turn = pending[other], turn + 1
    return found


def draws(seeds: Ints, tokens: Ints) -> Ints:
    """One number for each pair of a seed and a token: int64[n].

    Where all seeds are below 2^32, and token ids are, no two pairs share a number. Wider seeds are
    random, so that two given pairs share one with probability 2^-64.

    >>> draws(np.array([1, -1]), np.array([5, 5])).tolist()
    [4294967301, 4]
    """
    turned: Ints = seeds << 32 | seeds >> 32 & 0xFFFFFFFF
    return turned + tokens
