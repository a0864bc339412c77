"""The null distribution of weighted means of two exponential scores, one for each of two keys.

    score = larger * X + smaller * Y        X, Y exponential with mean 1; larger + smaller = 1

An exponential number with mean `larger` is a geometric sum of ones with mean `smaller`: after each
of these there is another with probability 1 - smaller / larger. So the sum of n scores is a sum of
2 n + K exponential numbers with mean `smaller`, where K is distributed as the failures before n
successes of probability smaller / larger (negative binomial), and

    P(sum >= s) = sum over k of P(K = k) P(Gamma(2 n + k) >= s / smaller)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from ._evidence import BatchEvidence, Floats, Ints
from ._null_distributions import (
    HIGHEST_SCORE,
    TILTS,
    ExponentialNull,
    LikelihoodRatios,
    NullDistribution,
    SingleTextMethods,
)

LEAST_WEIGHT = 1e-4
"""A smaller weight would need millions of terms for a p-value."""

_LEFT_OUT = 45.0  # nats below the greatest term, where terms no longer count
_LOOKS = 256  # terms that are computed first, to see which count
_MOST_TERMS = 1 << 17


def null_of_two_keys(share: float, highest: float = HIGHEST_SCORE) -> NullDistribution:
    """The distribution of `share` X + (1 - `share`) Y; without the key that has no weight.

    Args:
        share: 0, 1, or from `LEAST_WEIGHT` to 1 - `LEAST_WEIGHT`.
        highest: of X and Y, see `ExponentialNull`.
    """
    larger = max(share, 1 - share)
    return TwoKeyNull(larger, highest) if larger < 1 else ExponentialNull(highest)


@dataclass(frozen=True)
class TwoKeyNull(SingleTextMethods):
    """Scores of `larger` X + (1 - `larger`) Y.

    Attributes:
        larger: the larger weight, from 0.5 to 0.9999.
        highest: of X and Y, see `ExponentialNull`.
    """

    larger: float
    highest: float = HIGHEST_SCORE

    @property
    def smaller(self) -> float:
        """The other weight."""
        return 1 - self.larger

    def strengths(self, texts: BatchEvidence) -> Floats:
        """(sum - T) / sqrt(T variance)."""
        total = texts.lengths
        variance = self.larger**2 + self.smaller**2
        with np.errstate(invalid="ignore"):
            strengths: Floats = (texts.totals - total) / np.sqrt(variance * total)
        return strengths

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The tails of the module. Up to 2,000 tokens and `larger` = 0.99 the relative error is
        below 1e-9. Beyond it grows: at 0.9999 it is below 1e-7, and below 1e-4 of tails near 1."""
        pairs = zip(texts.totals.tolist(), texts.lengths.tolist(), strict=True)
        return np.array([self.tail(total, count) for total, count in pairs])

    def tail(self, total: float, count: int) -> float:
        """The probability that `count` scores sum to `total` or more."""
        if count == 0 or total <= 0:
            return 1.0
        # The logarithms of the terms are concave in k, so those that count stand together. K is
        # seldom far above its mean; of high sums the terms that count have a k near that of a sum
        # of as many numbers.
        usual = (count + 10 * math.sqrt(count) + 60) * self.larger
        most = int((usual + 2 * total) / self.smaller) + 64
        looks = np.linspace(0, most, _LOOKS).astype(np.int64)
        terms = self._log_terms(looks, total, count)
        near = np.flatnonzero(terms > terms.max() - _LEFT_OUT)
        first = int(looks[max(near[0] - 1, 0)])
        last = int(looks[min(near[-1] + 1, len(looks) - 1)])
        # Among millions of terms, neighbours are next to equal.
        stride = 1 + (last - first) // _MOST_TERMS
        terms = self._log_terms(np.arange(first, last + 1, stride), total, count)
        return float(min(1.0, stride * np.exp(scipy.special.logsumexp(terms))))

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """Ratios exp(t score) (1 - larger t) (1 - smaller t) of scores that are tilted by t."""
        tilts = TILTS / self.larger
        start = np.log1p(-self.larger * tilts) + np.log1p(-self.smaller * tilts)
        ratios = start[:, None] + tilts[:, None] * texts.all.scores
        return LikelihoodRatios(ratios, -start - tilts, np.ones(len(tilts)))

    def _log_terms(self, failures: Ints, total: float, count: int) -> Floats:
        """The logarithms of the terms of some k: float64[n]."""
        success = self.smaller / self.larger
        k = failures.astype(np.float64)
        chosen = -np.log(k + count) - scipy.special.betaln(count, k + 1)  # (k + count - 1) over k
        found: Floats = chosen + count * np.log(success) + scipy.special.xlog1py(k, -success)
        return found + _log_gamma_tails(2.0 * count + k, total / self.smaller)


def _log_gamma_tails(shapes: Floats, x: float) -> Floats:
    """log P(Gamma(shape) >= x); where that is below 1e-290, an upper bound that is next to it."""
    with np.errstate(divide="ignore"):
        logs = np.log(scipy.special.gammaincc(shapes, x))
    small = logs < -660
    if small.any():
        # Then x is far above the shape a, and the tail x^(a-1) e^-x / Gamma(a) (1 + (a-1)/x + ...)
        # is at most its first term times 1 / (1 - (a-1)/x).
        a = shapes[small]
        first = (a - 1) * np.log(x) - x - scipy.special.gammaln(a)
        logs[small] = first - np.log1p(-np.minimum((a - 1) / x, 0.999))
    found: Floats = logs
    return found
