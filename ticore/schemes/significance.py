"""How surprising a text's scores are if nobody watermarked it.

Each null distribution says what the scores of one token are without a watermark. From it follow the
strength (the paper's, in standard deviations), an exact p-value, and the bets by which a marked
stretch of a text is found (`ticore.watermarking.stretches`). Scores count as independent here, so
each draw of a token is to be given once: see `Evidence.distinct`.

All of it is computed for many texts at once, and what is found for one does not depend on the
others, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from .evidence import Evidence, Evidences, Floats, Ints

# Beyond so many tokens the exact distribution of drawing without replacement takes seconds, and
# the binomial one, whose tail is heavier (Hoeffding 1963, theorem 4), stands in for it.
_MOST_EXACT = 20_000
_MOST_KEPT = 2_000  # tokens of lists whose distribution is cached
# A stretch may be marked weakly or strongly. Bets of these strengths, as multiples of the usual
# log odds ratio, lose little to the best one wherever that is.
_STRENGTHS = np.array([0.7, 1.2, 2.0])
_ONES = np.ones(3)


@dataclass(frozen=True, eq=False)
class Bets:
    """Log-likelihood ratios of scores, under watermarks of k strengths.

    A ratio's exponential has a mean of 1 (or less) where there is no watermark, whatever the tokens
    before it are.

    Attributes:
        ratios: float64[k, n].
        losses: float64[k], above 0: the mean of minus one token's ratio without a watermark, or
            more.
        excess: float64[k]: where a sum of ratios passes a threshold without a watermark, the mean
            of its exponential is at least so many times the threshold's. 1 is always right.
    """

    ratios: Floats
    losses: Floats
    excess: Floats


class Null(Protocol):
    """The distribution of scores where there is no watermark."""

    def strengths(self, texts: Evidences) -> Floats:
        """float64[texts]: by how many standard deviations the sum of each text's scores exceeds its
        mean; nan without scores."""
        ...

    def p_values(self, texts: Evidences) -> Floats:
        """float64[texts]: the probability of scores that sum up to as much or more. 1 without
        scores."""
        ...

    def bets(self, texts: Evidences) -> Bets:
        """What the search for a marked stretch adds up; n as in `texts.all`."""
        ...


class OneText:
    """A null distribution's answers about a single text."""

    def strength(self: Null, evidence: Evidence) -> float:
        """By how many standard deviations the scores' sum exceeds its mean; nan without scores."""
        return float(self.strengths(Evidences.of(evidence))[0])

    def p_value(self: Null, evidence: Evidence) -> float:
        """The probability of scores that sum up to as much or more. 1 without scores."""
        return float(self.p_values(Evidences.of(evidence))[0])


@dataclass(frozen=True)
class Greens(OneText):
    """Scores 1 for tokens on a green list and 0 for others; each is green by itself.

    Attributes:
        share: the probability of 1.
        marked_share: the same in watermarked text, roughly.
    """

    share: float
    marked_share: float

    def strengths(self, texts: Evidences) -> Floats:
        """(green - share T) / sqrt(T share (1 - share)); Kirchenbauer et al. 2023, equation 3."""
        total = texts.lengths
        with np.errstate(invalid="ignore"):
            spread = np.sqrt(total * self.share * (1 - self.share))
            strengths: Floats = (texts.totals - self.share * total) / spread
        return strengths

    def p_values(self, texts: Evidences) -> Floats:
        """The binomial tail, exact."""
        green = texts.totals
        tails = special.bdtrc(np.maximum(green, 1.0) - 1, texts.lengths, self.share)
        return np.where(green > 0, tails, 1.0)

    def bets(self, texts: Evidences) -> Bets:
        """Ratios of tokens whose odds to be green are exp(log odds ratio) times the usual ones."""
        red, odds, losses = self._weights
        return Bets(red[:, None] + odds[:, None] * texts.all.scores, losses, _ONES)

    @cached_property
    def _odds(self) -> Floats:
        """float64[k]: logarithms of the odds ratios of each strength."""
        odds = special.logit(self.marked_share) - special.logit(self.share)
        return _STRENGTHS * float(odds)

    @cached_property
    def _weights(self) -> tuple[Floats, Floats, Floats]:
        """float64[k] each: the ratio of a token that is not green, what one that is has more, and
        the mean loss."""
        red = -np.log1p(self.share * np.expm1(self._odds))
        return red, self._odds, -red - self.share * self._odds


@dataclass(frozen=True)
class ExactGreens(Greens):
    """Scores 1 for tokens on lists that hold exactly `greens` of `size` tokens each.

    Distinct tokens after the same seed are then drawn without replacement.
    """

    greens: int
    size: int

    def p_values(self, texts: Evidences) -> Floats:
        """The tails of sums of hypergeometric counts, one for each list; exact to 20,000 tokens."""
        return np.array([self._p_value(texts.text(at)) for at in range(len(texts.bounds) - 1)])

    def bets(self, texts: Evidences) -> Bets:
        """The same, with the probability of green that the list's earlier draws leave.

        Greens that were drawn are gone, so the next draw is green with (greens - g) / (size - d)
        after d draws with g greens. Its mean is the lists' share, and the loss is a concave
        function of it, so on average (Jensen) the loss is at most that of the share.
        """
        drawn, green = _earlier(texts)
        left = np.maximum(self.size - drawn, 1)
        share = np.clip((self.greens - green) / left, 0.0, 1.0)
        red = -np.log1p(share * np.expm1(self._odds)[:, None])
        true = self.greens / self.size
        losses = np.log1p(true * np.expm1(self._odds)) - true * self._odds
        ratios = red + self._odds[:, None] * texts.all.scores
        return Bets(ratios, losses, _ONES)

    def _p_value(self, evidence: Evidence) -> float:
        total, green = len(evidence), int(evidence.scores.sum())
        _, lengths = np.unique(evidence.seeds, return_counts=True)
        if total > _MOST_EXACT or lengths.max(initial=0) <= 1:
            return float(Greens.p_values(self, Evidences.of(evidence))[0])
        alike = np.bincount(lengths)
        parts = [_binomial(int(alike[1]), self.share)]
        for drawn in (np.flatnonzero(alike[2:]) + 2).tolist():
            count = int(alike[drawn])
            kept = drawn * count <= _MOST_KEPT
            of_lists = _kept_of_lists if kept else _of_lists
            parts.append(of_lists(self.greens, self.size, drawn, count))
        return float(min(1.0, reduce(_convolved, parts)[green:].sum()))


# The mean of a score in marked text is 1 / (1 - tilt): 1.4, 2 and 3.3.
_TILTS = np.array([0.3, 0.5, 0.7])


@dataclass(frozen=True)
class Exponential(OneText):
    """Scores -log(1 - u) of uniform u, which are exponentially distributed with mean 1."""

    def strengths(self, texts: Evidences) -> Floats:
        """sum / sqrt(T) - sqrt(T)."""
        root = np.sqrt(texts.lengths)
        with np.errstate(invalid="ignore"):
            strengths: Floats = texts.totals / root - root
        return strengths

    def p_values(self, texts: Evidences) -> Floats:
        """The tail of a gamma distribution with shape T, exact."""
        total = texts.lengths
        return np.where(total > 0, special.gammaincc(np.maximum(total, 1), texts.totals), 1.0)

    def bets(self, texts: Evidences) -> Bets:
        """Ratios of exponential scores with a larger mean.

        By how much a score exceeds any value is distributed as the score itself, so that what
        passes a threshold exceeds it by a factor with the mean 1 / (1 - tilt).
        """
        ratios = np.log1p(-_TILTS)[:, None] + _TILTS[:, None] * texts.all.scores
        return Bets(ratios, -np.log1p(-_TILTS) - _TILTS, 1 / (1 - _TILTS))


def _earlier(texts: Evidences) -> tuple[Ints, Ints]:
    """Of each draw's list, in its text: int64[n] earlier draws, and how many of them were green."""
    one = texts.all
    if not len(one):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, lists = np.unique(one.seeds, return_inverse=True)
    lists = lists + texts.numbers * (lists.max() + 1)
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
    """The probabilities of 0 to `drawn` x `count` greens, if each of `count` lists is drawn from
    `drawn` times, without replacement."""
    if count > 1:
        half = _of_lists(greens, size, drawn, count // 2)
        twice = _convolved(half, half)
        return _convolved(twice, _of_lists(greens, size, drawn, 1)) if count % 2 else twice
    green = np.arange(drawn + 1)
    ways = _log_choose(greens, green) + _log_choose(size - greens, drawn - green)
    return np.exp(ways - _log_choose(size, np.array([drawn])))


# Texts have few ways to draw from lists, and most have them in common.
_kept_of_lists = lru_cache(maxsize=512)(_of_lists)


def _convolved(one: Floats, other: Floats) -> Floats:
    """The distribution of the sum of two independent counts."""
    return np.convolve(one, other).astype(np.float64, copy=False)


def _binomial(count: int, share: float) -> Floats:
    """The probabilities of 0 to `count` greens among as many tokens."""
    green = np.arange(count + 1)
    logs: Floats = special.xlogy(green, share) + special.xlog1py(count - green, -share)
    return np.exp(_log_choose(count, green) + logs)


def _log_choose(total: int, chosen: npt.NDArray[np.integer[Any]]) -> Floats:
    """The logarithm of the number of ways to choose some of `total`; -inf for more than all."""
    left = total - chosen
    ways: Floats = special.gammaln(total + 1) - special.gammaln(chosen + 1)
    ways -= special.gammaln(np.maximum(left, 0) + 1)
    ways[left < 0] = -np.inf
    return ways
