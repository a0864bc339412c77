"""All stretches of a text that are watermarked, and how surprising each is.

`_segments` proves this of text without a watermark: let S_k(b, e) be the sum of the log-likelihood
ratios of strength k over the tokens from b to before e, and F(b, e) the average of
e_k (exp(S_k) - S_k - 1) / (L_k N) over the strengths, each S_k at least 0. In n unmarked tokens in
a row, some segment has F(b, e) >= y with a probability of at most (n / N) / y. For F is at most the
Q of the process that begins with these tokens, and the proof needs N only as what Q is divided by.
Now let any part of a text be watermarked.

1. The rest are runs of n_1, n_2, ... unmarked tokens, together at most N.
   Example: of 1,000 tokens 300 are marked, in the middle. The runs have 350 tokens each.
2. A stretch without a marked token lies in one of these runs. So one with F >= y occurs with a
   probability of at most (n_1 + n_2 + ...) / N / y <= 1 / y.
   Example: 0.35 / y and 0.35 / y, which is less than 1 / y.
3. So p = 1 / F(b, e) may be compared with a threshold for every segment at once: with a probability
   of at most a, some segment without a marked token has p <= a, however many others are marked.

The tokens after a marked one must be scored as in other text, given the tokens before. They are,
since each draw counts once and a human does not know the key.

Which segments to show is then free. Shown are those that together explain the text best: the sum of
S_k, minus a cost for each stretch, is the highest (two neighbours with a gap between them are two
stretches if the gap loses more than the cost). The cost is what a stretch needs to be found alone.
One pass over the text finds them, with one state for each strength and one for unmarked text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemes import Evidence, NullDistribution
from ..schemes._evidence import BatchEvidence

Floats = npt.NDArray[np.float64]

_LEAST = 1e-300
_LEAST_COST = 1.0  # of a stretch; so short runs of luck are not shown one by one
_Chain = tuple[tuple[int, int], Any] | None


@dataclass(frozen=True)
class Stretch:
    """A part of a text that is watermarked.

    Attributes:
        begin, end: its tokens are `ids[begin:end]`.
        p_value: with a probability of at most this a text shows a stretch that is as good evidence
            and has no marked token, whatever else of the text is marked. It is corrected for all
            places, lengths and configurations, and for the test of the whole text.
        configuration: the name of the configuration that wrote it; None if one was looked for.
    """

    begin: int
    end: int
    p_value: float
    configuration: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has; `configuration` if there is one."""
        named = {} if self.configuration is None else {"configuration": self.configuration}
        return {"begin": self.begin, "end": self.end, "p_value": self.p_value, **named}


def find_stretches(
    null: NullDistribution,
    evidence: Evidence,
    rate: float,
    *,
    tests: int = 1,
    configuration: str | None = None,
) -> tuple[Stretch, ...]:
    """The disjoint stretches of one text, in its order.

    Args:
        null: the distribution of scores without a watermark.
        evidence: of the text, each draw once.
        rate: with at most this probability some stretch without a marked token is returned.
        tests: how many tests share the rate: p-values are multiplied by it.
        configuration: see `Stretch`.
    """
    if not len(evidence):
        return ()
    ratios = null.likelihood_ratios(BatchEvidence.of(evidence))
    factors = ratios.factors
    # With this sum, one strength alone gives a p-value of the rate; the others help a little.
    costs = np.log(tests * len(evidence) / (rate * factors)) - 1
    segments = likeliest_segments(ratios.logs, np.maximum(costs, _LEAST_COST))
    sums = np.zeros((len(factors), len(evidence) + 1))
    np.cumsum(ratios.logs, axis=1, out=sums[:, 1:])
    found = []
    for begin, end in segments:
        above = np.maximum(sums[:, end] - sums[:, begin], 0.0)
        with np.errstate(over="ignore"):
            highest = float(factors @ (np.expm1(above) - above))
        p_value = min(1.0, tests * len(evidence) / max(highest, _LEAST))
        if p_value <= rate:
            first, last = evidence.positions[[begin, end - 1]].tolist()
            found.append(Stretch(first, last + 1, p_value, configuration))
    return tuple(found)


def disjoint(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """The stretches that overlap no earlier one of the list, in the order of the text."""
    kept: list[Stretch] = []
    for one in stretches:
        if all(one.end <= other.begin or other.end <= one.begin for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: one.begin))


def likeliest_segments(logs: Floats, costs: Floats) -> list[tuple[int, int]]:
    """Begin and end of disjoint segments whose sums, minus their costs, are the highest together.

    Args:
        logs: float64[k, n]: a segment has one of k strengths, and sums the row of this strength.
        costs: float64[k], above 0: what a segment of each strength costs.

    >>> likeliest_segments(np.array([[-1.0, 2, 2, -1, 2, -4, 3, -9, 1]]), np.array([2.5]))
    [(1, 5), (6, 7)]
    """
    # The highest sum so far with no segment open, and its segments: the last one, those before it.
    closed = 0.0
    chain: _Chain = None
    # For each strength: the highest sum with a segment of it open, where it began, what is before.
    strengths = range(len(costs))
    cost = costs.tolist()
    sums, begins, before = [-math.inf] * len(cost), [0] * len(cost), [chain] * len(cost)
    for at, values in enumerate(logs.T.tolist()):
        best = -1
        was, chain_was = closed, chain
        for k in strengths:
            if was - cost[k] > sums[k]:
                sums[k], begins[k], before[k] = was - cost[k], at, chain_was
            sums[k] += values[k]
            if sums[k] > closed:
                closed, best = sums[k], k
        if best >= 0:
            chain = ((begins[best], at + 1), before[best])
    found = []
    while chain is not None:
        last, chain = chain
        found.append(last)
    return found[::-1]
