"""How surprising a text's scores are if nobody watermarked it.

Each null distribution says what the scores of one token are without a watermark. From it follow the
strength (the paper's, in standard deviations) and an exact p-value. Scores count as independent
here, so each draw of a token is to be given once: see `Evidence.distinct`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from .evidence import Evidence

Floats = npt.NDArray[np.float64]

# Beyond so many tokens the exact distribution of drawing without replacement takes seconds, and
# the binomial one, whose tail is heavier (Hoeffding 1963, theorem 4), stands in for it.
_MOST_EXACT = 20_000


class Null(Protocol):
    """The distribution of scores where there is no watermark.

    Attributes:
        independent: whether distinct draws are independent; else they are negatively associated.
    """

    independent: ClassVar[bool]

    def strength(self, evidence: Evidence) -> float:
        """By how many standard deviations the scores' sum exceeds its mean; nan without scores."""
        ...

    def p_value(self, evidence: Evidence) -> float:
        """The probability of scores that sum up to as much or more. 1 without scores."""
        ...

    def log_ratio(self, scores: Floats) -> Floats:
        """How much likelier each score is under a watermark of usual strength: natural logarithms,
        float64[n], whose exponentials have mean 1 (or less) where there is no watermark."""
        ...


@dataclass(frozen=True)
class Greens:
    """Scores 1 for tokens on a green list and 0 for others; each is green by itself.

    Attributes:
        share: the probability of 1.
        marked_share: the same in watermarked text, roughly.
    """

    independent: ClassVar[bool] = True

    share: float
    marked_share: float

    def strength(self, evidence: Evidence) -> float:
        """(green - share T) / sqrt(T share (1 - share)); Kirchenbauer et al. 2023, equation 3."""
        total = len(evidence)
        if not total:
            return math.nan
        spread = math.sqrt(total * self.share * (1 - self.share))
        return float((evidence.scores.sum() - self.share * total) / spread)

    def p_value(self, evidence: Evidence) -> float:
        """The binomial tail, exact."""
        green = int(evidence.scores.sum())
        return float(special.bdtrc(green - 1, len(evidence), self.share)) if green else 1.0

    def log_ratio(self, scores: Floats) -> Floats:
        green = math.log(self.marked_share / self.share)
        red = math.log((1 - self.marked_share) / (1 - self.share))
        return np.where(scores > 0.5, green, red)


@dataclass(frozen=True)
class ExactGreens(Greens):
    """Scores 1 for tokens on lists that hold exactly `greens` of `size` tokens each.

    Distinct tokens behind the same seed are then drawn without replacement.
    """

    independent: ClassVar[bool] = False

    greens: int
    size: int

    def p_value(self, evidence: Evidence) -> float:
        """The tail of a sum of hypergeometric counts, one for each list; exact to 20,000 tokens."""
        total, green = len(evidence), int(evidence.scores.sum())
        _, lengths = np.unique(evidence.seeds, return_counts=True)
        if total > _MOST_EXACT or lengths.max(initial=0) <= 1:
            return super().p_value(evidence)
        singles = int((lengths == 1).sum())
        parts = [_binomial(singles, self.share)]
        parts += [self._of_one_list(length) for length in lengths[lengths > 1].tolist()]
        return float(min(1.0, reduce(_convolved, parts)[green:].sum()))

    def _of_one_list(self, drawn: int) -> Floats:
        """The probabilities of 0 to `drawn` greens among as many tokens of one list."""
        green = np.arange(drawn + 1)
        ways = _log_choose(self.greens, green)
        ways = ways + _log_choose(self.size - self.greens, drawn - green)
        return np.exp(ways - _log_choose(self.size, np.array([drawn])))


@dataclass(frozen=True)
class Exponential:
    """Scores -log(1 - u) of uniform u, which are exponentially distributed with mean 1.

    Attributes:
        marked_mean: their mean in watermarked text, roughly.
    """

    independent: ClassVar[bool] = True

    marked_mean: float = 2.0

    def strength(self, evidence: Evidence) -> float:
        """sum / sqrt(T) - sqrt(T)."""
        total = len(evidence)
        if not total:
            return math.nan
        return float(evidence.scores.sum() / math.sqrt(total) - math.sqrt(total))

    def p_value(self, evidence: Evidence) -> float:
        """The tail of a gamma distribution with shape T, exact."""
        if not len(evidence):
            return 1.0
        return float(special.gammaincc(len(evidence), evidence.scores.sum()))

    def log_ratio(self, scores: Floats) -> Floats:
        rate = 1 / self.marked_mean
        return math.log(rate) + (1 - rate) * scores


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
