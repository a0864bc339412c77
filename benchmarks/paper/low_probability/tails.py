"""Tokens of small probability in one text: how many there are, and how many are to be expected.

At each step the mass below a bound is the chance that a free sample takes such a token there. So
the sum of these masses is the number to be expected, with no sampling noise of its own:

    step   mass below 2^-8   token taken
    1      0.10              2^-3
    2      0.25              2^-9     found
           0.35 expected              1 found

Whatever the text is, under free sampling the number found exceeds the sum by 0 on average.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ticore.candidates import Pool
from ticore.interfaces import LanguageModel, Logits

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

BOUNDS = (8, 12, 16, 20, 24)
"""A token is improbable if its probability is below 2^-bound."""

Floats = npt.NDArray[np.float64]


class Tails:
    """Counts the improbable tokens of one text under one distribution, step by step."""

    def __init__(self) -> None:
        self._steps = self._outside = 0
        self._found = np.zeros(len(BOUNDS), dtype=np.int64)
        self._expected = np.zeros(len(BOUNDS))

    def add(self, log2_p: Floats, place: int | None) -> None:
        """Count one step.

        Args:
            log2_p: float64[n], log2 of the probabilities that this step chose by.
            place: which of them the token has; None where it has none. Such a step is counted as
                outside, and neither found nor expected.
        """
        if place is None:
            self._outside += 1
            return
        self._steps += 1
        self._found += log2_p[place] < -np.array(BOUNDS)
        self._expected += masses_below(log2_p, np.exp2(log2_p))

    def as_json(self) -> JsonObject:
        """`steps`, and how many more were `outside`; `found` and `expected`, for each bound."""
        return {
            "steps": self._steps,
            "outside": self._outside,
            "found": self._found.tolist(),
            "expected": self._expected.tolist(),
        }


def masses_below(log2_p: Floats, shares: Floats) -> Floats:
    """What improbable tokens have together, for each bound: float64[len(BOUNDS)].

    Args:
        log2_p: float64[n], which says which tokens are improbable.
        shares: float64[n], of each token.

    >>> masses_below(np.array([-1.0, -9.0, -13.0]), np.array([0.5, 0.3, 0.2])).tolist()
    [0.5, 0.2, 0.0, 0.0, 0.0]
    """
    passed = np.searchsorted(BOUNDS, -log2_p, side="left")  # how many bounds each token is below
    by_count = np.zeros(len(BOUNDS) + 1)
    np.add.at(by_count, passed, shares)
    masses: Floats = np.cumsum(by_count[::-1])[-2::-1]
    return masses


class TextDistribution:
    """A model's distribution over all tokens that are text: what free samples are drawn from.

    Args:
        model: whose logits are given; see also `FreeSampling`, which samples.
    """

    def __init__(self, model: LanguageModel) -> None:
        size = model.tokenizer.vocab_size
        self._not_text = [*model.tokenizer.special_ids, *range(size, model.logit_width)]

    def log2(self, logits: Logits) -> Floats:
        """log2 of the probabilities float64[logit_width] of the next token."""
        text_only = np.array(logits, dtype=np.float64)
        text_only[self._not_text] = -np.inf
        return log2_of_logits(text_only)


def log2_of_logits(logits: npt.ArrayLike) -> Floats:
    """log2 of the probabilities of logits float[n], of which some but not all may be -inf."""
    scaled = np.asarray(logits, dtype=np.float64) / math.log(2)
    scaled -= scaled.max()
    found: Floats = scaled - np.log2(np.exp2(scaled).sum())
    return found


def log2_of_pool(pool: Pool) -> Floats:
    """log2 of the probabilities float64[n] of a pool's tokens, from the logits as it rounds them.

    Its own `unnormalized_probs` are 0 below 2^-30 of the largest one.
    """
    return log2_of_logits(pool.rounded_logits / (1 << pool.grid_bits))
