"""The strongest evidence that a text can be: every score the highest there is.

Where even this does not reach a threshold, the text is too short to tell, and "no watermark found"
says nothing. Example: 12 tokens, half of the tokens are green. If all 12 are, p = 2^-12 = 0.00024.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np
import scipy

from ._evidence import BatchEvidence, Floats, Ints
from ._null_distributions import (
    BinomialNull,
    ExponentialNull,
    HypergeometricNull,
    NullDistribution,
    earlier_draws,
)
from ._two_key_null import TwoKeyNull


@runtime_checkable
class KnowsStrongest(Protocol):
    """A distribution that knows its strongest p-values itself."""

    def strongest(self, texts: BatchEvidence) -> Floats:
        """As `strongest_p_values`."""
        ...


def strongest_p_values(null: NullDistribution, texts: BatchEvidence) -> Floats | None:
    """float64[texts]: no scores of the same tokens have a lower p-value; 1 for a text without any.

    None if it is not known for this distribution.
    """
    if isinstance(null, KnowsStrongest):
        return null.strongest(texts)
    if isinstance(null, HypergeometricNull):
        # Draw d of a list, after d green ones, is green with (greens - d) / (size - d).
        drawn, _ = earlier_draws(texts)
        greens = np.maximum(null.greens - drawn, 0)
        with np.errstate(divide="ignore"):
            logs = np.log(greens / np.maximum(null.size - drawn, 1))
        sums = np.bincount(texts.text_numbers, weights=logs, minlength=len(texts.lengths))
        return np.exp(sums)
    return strongest_by_length(null, texts.lengths)


def strongest_by_length(null: NullDistribution, lengths: Ints) -> Floats | None:
    """`strongest_p_values` where only the number of tokens decides; None for other distributions.

    Args:
        null: the distribution of scores without a watermark.
        lengths: int64[texts], how many tokens count.
    """
    if type(null) is BinomialNull:
        return np.power(null.share, lengths, dtype=np.float64)
    if isinstance(null, ExponentialNull):
        tails = scipy.special.gammaincc(np.maximum(lengths, 1), lengths * null.highest)
        return np.where(lengths > 0, tails, 1.0)
    if isinstance(null, TwoKeyNull):
        return np.array([_of_two_keys(null, length) for length in lengths.tolist()], np.float64)
    return None


# Computing it takes milliseconds, and few lengths occur in many texts.
@lru_cache(maxsize=4096)
def _of_two_keys(null: TwoKeyNull, length: int) -> float:
    return null.tail(length * null.highest, length)
