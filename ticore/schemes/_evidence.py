"""What the tokens of a text say about a watermark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._support.deprecation import warn_deprecated

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Odd numbers without a pattern: a product with one brings each bit of a number to the highest bits.
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_SORTED = 2000  # up to this many values, sorting is faster than hashing


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tokens that a scheme can score, in the order of the text: arrays of one length n.

    Attributes:
        positions: int64[n], the places of these tokens in the text's list of tokens.
        seeds: int64[n], any 64 bits: the seeds of their random numbers.
        draw_ids: int64[n], which draw each score comes from. Tokens with equal values repeat one
            draw, so only the first of them says something new. See the function `draw_ids`.
        scores: float64[n].
    """

    positions: Ints
    seeds: Ints
    draw_ids: Ints
    scores: Floats

    @classmethod
    def after_context(
        cls, context: int, seeds: Ints, draw_ids: Ints, scores: Floats, *more: Any
    ) -> Self:
        """Of the tokens at position `context` or later, all in a row.

        Args:
            context: how many tokens stand before the first one that has a score.
            seeds, draw_ids, scores: see the class.
            more: the attributes that a subclass has besides these, in their order.
        """
        positions = np.arange(context, context + len(scores), dtype=np.int64)
        return cls(positions, seeds, draw_ids, scores, *more)

    def __len__(self) -> int:
        return len(self.draw_ids)

    @property
    def draws(self) -> Ints:
        """Deprecated: the old name of `draw_ids`."""
        warn_deprecated("Evidence.draws", "Evidence.draw_ids")
        return self.draw_ids

    def distinct(self) -> Evidence:
        """The first token of each draw.

        The later ones say nothing new. Counting them would make repetitive text look watermarked
        (Fernandez et al. 2023, section 3.2).
        """
        return self.where(np.flatnonzero(first_occurrences(self.draw_ids)))

    def where(self, selected: Ints | npt.NDArray[np.bool_] | slice) -> Evidence:
        """The tokens that an index selects."""
        return Evidence(
            self.positions[selected],
            self.seeds[selected],
            self.draw_ids[selected],
            self.scores[selected],
        )


@dataclass(frozen=True, eq=False)
class BatchEvidence:
    """The evidence of many texts, one text after the other.

    Attributes:
        all: of all texts; positions count from the beginning of each text.
        bounds: int64[texts + 1]: the tokens of text t are `bounds[t]` to before `bounds[t + 1]`.
    """

    all: Evidence
    bounds: Ints

    @classmethod
    def of(cls, one: Evidence) -> BatchEvidence:
        """The evidence of one text."""
        return cls(one, np.array([0, len(one)]))

    def text(self, at: int) -> Evidence:
        """The evidence of text number `at`."""
        return self.all.where(slice(int(self.bounds[at]), int(self.bounds[at + 1])))

    @property
    def lengths(self) -> Ints:
        """int64[texts]: how many tokens each text has."""
        lengths: Ints = self.bounds[1:] - self.bounds[:-1]
        return lengths

    @property
    def text_numbers(self) -> Ints:
        """int64[n]: the number of the text of each token."""
        return np.repeat(np.arange(len(self.bounds) - 1), self.lengths)

    @cached_property
    def totals(self) -> Floats:
        """float64[texts]: the sum of each text's scores. It does not depend on the other texts."""
        starts = self.bounds[:-1]
        some = self.lengths > 0
        sums = np.zeros(len(starts))
        if len(self.all):  # `reduceat` takes an empty range for one of length 1
            sums[some] = np.add.reduceat(self.all.scores, starts[some])
        return sums

    def distinct(self) -> BatchEvidence:
        """The first token of each draw in each text: `Evidence.distinct` of each."""
        if len(self.bounds) == 2:
            return BatchEvidence.of(self.all.distinct())
        return self.where(first_occurrences(self.all.draw_ids, self.text_numbers))

    def where(self, selected: npt.NDArray[np.bool_]) -> BatchEvidence:
        """The tokens for which `selected`, bool[n], is True; texts keep their numbers."""
        before = np.concatenate([[0], np.cumsum(selected)])
        return BatchEvidence(self.all.where(selected), before[self.bounds])


def first_occurrences(values: Ints, texts: Ints | None = None) -> npt.NDArray[np.bool_]:
    """bool[n]: whether a value occurs for the first time, in its text.

    Args:
        values: int64[n].
        texts: int64[n], the number of the text of each value; None: all are of one text.

    >>> first_occurrences(np.array([7, 8, 7, 7])).tolist()
    [True, True, False, False]
    """
    found = np.zeros(len(values), np.bool_)
    if texts is None and len(values) <= _SORTED:
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        found[order[:1]] = True
        found[order[1:]] = ordered[1:] != ordered[:-1]
        return found
    texts = np.zeros(len(values), np.int64) if texts is None else texts
    bits = max(len(values) * 2, 2).bit_length()
    table = np.empty(1 << bits, np.intp)
    shift = np.uint64(64 - bits)
    pending, turn = np.arange(len(values)), 0
    while len(pending):
        # Each index is written to a slot of the table, the last one first, so that the first one
        # stays. An index that lost its slot to another value gets another slot in the next turn.
        value, text = values[pending], texts[pending]
        mixed = value.view(np.uint64) * np.uint64(_FACTORS[0] + 2 * turn)
        mixed ^= (mixed >> np.uint64(29)) ^ text.view(np.uint64) * np.uint64(_FACTORS[2])
        slots = (mixed * np.uint64(_FACTORS[1] + 2 * turn) >> shift).view(np.int64)
        table[slots[::-1]] = pending[::-1]
        winners = table[slots]
        found[winners] = True
        other = (values[winners] != value) | (texts[winners] != text)
        pending, turn = pending[other], turn + 1
    return found


def draw_ids(seeds: Ints, tokens: Ints) -> Ints:
    """One number for each pair of a seed and a token: int64[n].

    Where all seeds and token ids are below 2^32, no two pairs share a number. Wider seeds are
    random, so that two given pairs share one with probability 2^-64.

    Args:
        seeds: int64[n], any 64 bits.
        tokens: int64[n], ids from 0 to 2^32 - 1.

    >>> draw_ids(np.array([1, -1]), np.array([5, 5])).tolist()
    [4294967301, 4]
    """
    rotated: Ints = seeds << 32 | seeds >> 32 & 0xFFFFFFFF
    return rotated + tokens
