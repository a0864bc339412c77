"""Null distributions: how surprising a text's scores are if the text has no watermark.

A null distribution says how the score of one token is distributed without a watermark. It gives
the strength (the papers' z-score), an exact p-value, and the likelihood ratios by which a marked
segment of a text is found (`ticore.watermarking._segments`). Scores are taken to be independent, so
each draw must be given once: see `Evidence.distinct`.

Many texts are computed at once. The result of a text does not depend on the others, to the last
bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from ._evidence import BatchEvidence, Evidence, Floats, Ints

# For more tokens than this the exact distribution of drawing without replacement takes seconds. The
# binomial one, whose tail is heavier (Hoeffding 1963, theorem 4), is used instead.
_MOST_EXACT = 20_000
_MOST_CACHED = 2_000  # tokens of lists whose distribution is cached
# A segment may be marked weakly or strongly. One of these strengths, as multiples of the usual log
# odds ratio, is always close to the best one.
_STRENGTHS = np.array([0.7, 1.2, 2.0])
_ONES = np.ones(3)
# Those of a watermark that nobody could see come near to it: the mean loss goes with the square of
# the log odds ratio, and of less than this floats would not hold it.
_LEAST_ODDS = 1e-3
HIGHEST_SCORE = 33 * math.log(2)
"""-log(1 - u) of the highest number of an engine with 32 bits; our own numbers have fewer."""

_MOST_DELTA = 100.0  # with more nothing changes, until `exp` overflows


@dataclass(frozen=True, eq=False)
class LikelihoodRatios:
    """Likelihood ratios of scores, for watermarks of k strengths.

    Without a watermark, a ratio has a mean of at most 1, whatever the tokens before it are.

    Attributes:
        logs: float64[k, n], the logarithms of the ratios.
        losses: float64[k], above 0: upper bounds on the mean loss, which is minus the logarithm of
            a token's ratio, without a watermark.
        excess: float64[k], at least 1: where a sum of logarithms first passes a threshold, without
            a watermark, its exponential is on average at least this many times that of the
            threshold.
    """

    logs: Floats
    losses: Floats
    excess: Floats

    @property
    def factors(self) -> Floats:
        """float64[k]: what an exponential of a sum counts in the average of all strengths."""
        factors: Floats = self.excess / self.losses / len(self.losses)
        return factors


class NullDistribution(Protocol):
    """The distribution of the scores of texts without a watermark."""

    def strengths(self, texts: BatchEvidence) -> Floats:
        """float64[texts]: by how many standard deviations the sum of a text's scores exceeds its
        mean; nan for a text without scores."""
        ...

    def p_values(self, texts: BatchEvidence) -> Floats:
        """float64[texts]: the probability of a sum of scores that is as high or higher; 1 for a
        text without scores."""
        ...

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """What the search for a marked segment adds up; n as in `texts.all`."""
        ...


class SingleTextMethods:
    """The methods of a null distribution for a single text."""

    def strength(self: NullDistribution, evidence: Evidence) -> float:
        """The sum of scores in standard deviations above its mean; nan without scores."""
        return float(self.strengths(BatchEvidence.of(evidence))[0])

    def p_value(self: NullDistribution, evidence: Evidence) -> float:
        """The probability of a sum of scores that is as high or higher; 1 without scores."""
        return float(self.p_values(BatchEvidence.of(evidence))[0])


def usual_marked_share(share: float, delta: float) -> float:
    """About which share of the tokens is green in text whose green tokens had `delta` added.

    The share is the greatest where a model has no preferences: its distribution is flat. Where it
    is sure of a token, a bias changes nothing. Half-way to the greatest share is usual.

    Args:
        share: of green tokens without a watermark; above 0, below 1.
        delta: what is added to the logits of green tokens.

    >>> usual_marked_share(0.5, 0.0), round(usual_marked_share(0.5, 2.0), 2)
    (0.5, 0.69)
    """
    odds_ratio = math.exp(min(delta, _MOST_DELTA))
    flat = share * odds_ratio / (share * odds_ratio + 1 - share)
    return (share + flat) / 2


@dataclass(frozen=True)
class BinomialNull(SingleTextMethods):
    """Scores of 1 for green tokens and 0 for others; tokens are green independently.

    Attributes:
        share: the probability of a score of 1.
        marked_share: about this probability in watermarked text.
    """

    share: float
    marked_share: float

    def strengths(self, texts: BatchEvidence) -> Floats:
        """(green - share T) / sqrt(T share (1 - share)): Kirchenbauer et al. 2023, equation 3."""
        total = texts.lengths
        with np.errstate(invalid="ignore"):
            spread = np.sqrt(total * self.share * (1 - self.share))
            strengths: Floats = (texts.totals - self.share * total) / spread
        return strengths

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The exact tail of the binomial distribution."""
        return self.tails(texts.totals, texts.lengths)

    def tails(self, green: Floats | Ints, total: Ints) -> Floats:
        """float64[texts]: the probabilities of as many green tokens or more, of `total` ones.

        Args:
            green: int64[texts] or whole numbers in float64[texts].
            total: int64[texts].
        """
        tails = scipy.special.bdtrc(np.maximum(green, 1.0) - 1, total, self.share)
        return np.where(np.asarray(green) > 0, tails, 1.0)

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """Ratios for watermarks that multiply the odds of a green token by exp(`_odds`)."""
        red, odds, losses = self._weights
        return LikelihoodRatios(red[:, None] + odds[:, None] * texts.all.scores, losses, _ONES)

    @cached_property
    def _odds(self) -> Floats:
        """float64[k]: logarithms of the odds ratios of each strength."""
        odds = scipy.special.logit(self.marked_share) - scipy.special.logit(self.share)
        return _STRENGTHS * max(float(odds), _LEAST_ODDS)

    @cached_property
    def _weights(self) -> tuple[Floats, Floats, Floats]:
        """float64[k] each: the ratio of a token that is not green, how much higher that of a green
        token is, and the mean loss."""
        red = -np.log1p(self.share * np.expm1(self._odds))
        return red, self._odds, -red - self.share * self._odds


@dataclass(frozen=True)
class HypergeometricNull(BinomialNull):
    """Scores of 1 for green tokens and 0 for others; each list has exactly `greens` green tokens.

    Distinct tokens after the same seed are then drawn without replacement.

    Attributes:
        greens: how many tokens of a list are green.
        size: of the vocabulary.
    """

    greens: int
    size: int

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The tails of sums of hypergeometric counts, one per list; exact up to 20,000 tokens."""
        return np.array([self._p_value(texts.text(at)) for at in range(len(texts.bounds) - 1)])

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """As in `BinomialNull`, but with the share of green tokens after a list's earlier draws.

        After d draws with g green ones, the next draw is green with probability
        (greens - g) / (size - d). The mean of this probability is the lists' share. The loss is a
        concave function of it, so its mean is at most the loss of the share (Jensen).
        """
        drawn, green = earlier_draws(texts)
        left = np.maximum(self.size - drawn, 1)
        share = np.clip((self.greens - green) / left, 0.0, 1.0)
        red = -np.log1p(share * np.expm1(self._odds)[:, None])
        true = self.greens / self.size
        losses = np.log1p(true * np.expm1(self._odds)) - true * self._odds
        ratios = red + self._odds[:, None] * texts.all.scores
        return LikelihoodRatios(ratios, losses, _ONES)

    def _p_value(self, evidence: Evidence) -> float:
        total, green = len(evidence), int(evidence.scores.sum())
        _, lengths = np.unique(evidence.seeds, return_counts=True)
        if total > _MOST_EXACT or lengths.max(initial=0) <= 1:
            return float(BinomialNull.p_values(self, BatchEvidence.of(evidence))[0])
        alike = np.bincount(lengths)
        parts = [_binomial(int(alike[1]), self.share)]
        for drawn in (np.flatnonzero(alike[2:]) + 2).tolist():
            count = int(alike[drawn])
            cached = drawn * count <= _MOST_CACHED
            of_lists = _cached_of_lists if cached else _of_lists
            parts.append(of_lists(self.greens, self.size, drawn, count))
        return float(min(1.0, reduce(_convolved, parts)[green:].sum()))


def null_with_repeats(null: NullDistribution) -> NullDistribution:
    """The distribution that is used where tokens that repeat a draw count as well.

    Repeated draws are not made without replacement: more tokens than a list has may come from it.
    """
    if isinstance(null, HypergeometricNull):
        return BinomialNull(null.share, null.marked_share)
    return null


# With these, the mean of a score in marked text is 1 / (1 - tilt): 1.4, 2 and 3.3.
TILTS = np.array([0.3, 0.5, 0.7])


@dataclass(frozen=True)
class ExponentialNull(SingleTextMethods):
    """Scores of -log(1 - u) for uniform u: they are exponentially distributed with mean 1.

    Attributes:
        highest: no score is higher, since u has a fixed number of bits.
    """

    highest: float = HIGHEST_SCORE

    def strengths(self, texts: BatchEvidence) -> Floats:
        """sum / sqrt(T) - sqrt(T)."""
        root = np.sqrt(texts.lengths)
        with np.errstate(invalid="ignore"):
            strengths: Floats = texts.totals / root - root
        return strengths

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The exact tail of a gamma distribution with shape T."""
        total = texts.lengths
        return np.where(total > 0, scipy.special.gammaincc(np.maximum(total, 1), texts.totals), 1.0)

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """Ratios for exponential scores with a larger mean.

        By how much a score exceeds a value is distributed as the score itself. So where a sum
        passes a threshold, its exponential is 1 / (1 - tilt) times that of the threshold on
        average.
        """
        ratios = np.log1p(-TILTS)[:, None] + TILTS[:, None] * texts.all.scores
        return LikelihoodRatios(ratios, -np.log1p(-TILTS) - TILTS, 1 / (1 - TILTS))


def earlier_draws(texts: BatchEvidence) -> tuple[Ints, Ints]:
    """For each token, int64[n] each: the earlier draws from its list, and how many were green."""
    one = texts.all
    if not len(one):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, lists = np.unique(one.seeds, return_inverse=True)
    lists = lists + texts.text_numbers * (lists.max() + 1)
    order = np.argsort(lists, kind="stable")
    there, green = lists[order], one.scores[order].astype(np.int64)
    begins = np.concatenate([[True], there[1:] != there[:-1]])
    which = np.cumsum(begins) - 1
    before = np.cumsum(green) - green
    begin = np.flatnonzero(begins)
    drawn, greens = np.empty_like(order), np.empty_like(order)
    drawn[order] = np.arange(len(order)) - begin[which]
    greens[order] = before - before[begin][which]
    return drawn, greens


def _of_lists(greens: int, size: int, drawn: int, count: int) -> Floats:
    """The probabilities of 0 to `drawn` x `count` green tokens, if `drawn` tokens are drawn without
    replacement from each of `count` lists."""
    if count > 1:
        half = _of_lists(greens, size, drawn, count // 2)
        twice = _convolved(half, half)
        return _convolved(twice, _of_lists(greens, size, drawn, 1)) if count % 2 else twice
    green = np.arange(drawn + 1)
    ways = _log_choose(greens, green) + _log_choose(size - greens, drawn - green)
    return np.exp(ways - _log_choose(size, np.array([drawn])))


# Few ways to draw from lists occur, and most of them in many texts.
_cached_of_lists = lru_cache(maxsize=512)(_of_lists)


def _convolved(one: Floats, other: Floats) -> Floats:
    """The distribution of the sum of two independent counts."""
    return np.convolve(one, other).astype(np.float64, copy=False)


def _binomial(count: int, share: float) -> Floats:
    """The probabilities of 0 to `count` green tokens among `count` tokens."""
    green = np.arange(count + 1)
    logs: Floats = scipy.special.xlogy(green, share) + scipy.special.xlog1py(count - green, -share)
    return np.exp(_log_choose(count, green) + logs)


def _log_choose(total: int, chosen: npt.NDArray[np.integer[Any]]) -> Floats:
    """The logarithm of the number of ways to choose some of `total`; -inf for more than all."""
    left = total - chosen
    ways: Floats = scipy.special.gammaln(total + 1) - scipy.special.gammaln(chosen + 1)
    ways -= scipy.special.gammaln(np.maximum(left, 0) + 1)
    ways[left < 0] = -np.inf
    return ways
