"""Whether a text was written with other tokens than are read, and what a search for them costs.

A reader of a text that was written without rollback has other tokens at some places. Their scores,
and those of the tokens after them, are noise. `places` says how much of the evidence stands there;
`search` looks for the tokens that were written.

A search tests many tokenizations T of one text, and pays for it. Each T has a weight w(T), which
depends on the text alone, and all weights together are at most 1:

1. The tokenization that is read has the weight 1/2, and 1 where nothing can be respelled.
2. Let A be all respellings of the text. Each r in A has a share s(r), and the shares sum to 1 at
   most: half for those that move a cut, half for the others, equal within each half.
   Example: 20 respellings move a cut, 300 do not. The shares are 1/40 and 1/600.
3. A tokenization with K respellings r_1, ..., r_K has the weight
   w(T) = K! s(r_1) ... s(r_K) / (2 K (K + 1)).
   Example: one moved cut has the weight 1/4 1/40 = 1/160.
4. The weights of all T with K respellings sum to 1 / (2 K (K + 1)) at most. For the sum of the
   shares to the power K is at most 1, and has the product of each set of K respellings K! times.
   The sum of 1 / (K (K + 1)) over all K is 1. So all weights together are at most 1/2 + 1/2.
5. Let p(T) be the exact p-value of T: without a watermark P(p(T) <= x) <= x. So p(T) / w(T) <= a
   for some T has at most the probability of all a w(T) together, and that is at most a.

So the least p(T) / w(T) is a p-value, whichever of the T were tried and however they were chosen.
It is at most twice that of the tokens that are read.

Lists of green tokens are not searched. A token is green or not, which is evidence of 1 to 2 nats,
and a respelling changes two or three tokens; but it has to pay 5 nats or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemes import BinomialNull, Detectable, Evidence, NullDistribution
from ..schemes._evidence import BatchEvidence
from ._respellings import Respeller, Respelling, respelled

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_MOST_RESPELLED = 64  # respellings of one tokenization that is tried


@dataclass(frozen=True)
class TokenizationCheck:
    """What other tokens of the writer may have done to the evidence of a text.

    Attributes:
        places: how many respellings of the text move a cut between neighbouring tokens.
        near: how many of the tokens that count stand at such a place, or have it in their context.
        p_value_read: of the tokens that are read, all that count.
        p_value_apart: of those that are not near a place; 1 if there are none.
        tried: how many respellings the search had; None if there was no search, as for lists of
            green tokens.
        respelled: those with which the text is the best evidence, paid for; empty if the tokens
            that are read are.
    """

    places: int
    near: int
    p_value_read: float
    p_value_apart: float
    tried: int | None = None
    respelled: tuple[Respelling, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return {
            "places": self.places,
            "near": self.near,
            "p_value_read": self.p_value_read,
            "p_value_apart": self.p_value_apart,
            "tried": self.tried,
            "respelled": [
                {"begin": one.begin, "end": one.end, "tokens": list(one.tokens)}
                for one in self.respelled
            ],
        }


def check_places(
    null: NullDistribution,
    context: int,
    ids: Sequence[int],
    counted: Evidence,
    respeller: Respeller,
) -> TokenizationCheck:
    """How much of a text's evidence stands at places where a cut can be moved.

    Args:
        null: the distribution of the evidence.
        context: of the scheme whose evidence it is.
        ids: the tokens that are read.
        counted: their evidence, without what does not count.
        respeller: of the tokenizer.
    """
    moved = respeller.moved_cuts(ids)
    edges = np.zeros(len(ids) + 1, np.int64)
    for one in moved:
        edges[one.begin] += 1
        edges[min(one.end + context, len(ids))] -= 1
    near = (np.cumsum(edges) > 0)[counted.positions]
    p_read, p_apart = (
        float(null.p_values(BatchEvidence.of(evidence))[0])
        for evidence in (counted, counted.where(~near))
    )
    return TokenizationCheck(len(moved), int(near.sum()), p_read, p_apart)


def search(
    scheme: Detectable, ids: Sequence[int], p_value: float, respeller: Respeller, *, once: bool
) -> tuple[float, int | None, tuple[Respelling, ...]]:
    """The best tokenization of a text that is found, and a p-value that pays for the search.

    Lists of green tokens are not searched, so their p-value pays nothing.

    Args:
        scheme: whose watermark is looked for.
        ids: the tokens that are read.
        p_value: theirs.
        respeller: of the tokenizer.
        once: whether each draw counts once.

    Returns:
        The p-value; how many respellings there are, None if none was looked for; those that were
        chosen.
    """
    if isinstance(scheme.null, BinomialNull):
        return p_value, None, ()
    listed = [one for one in respeller.all(ids) if _follows_tokens(ids, one.begin, scheme.context)]
    if not listed or p_value == 0:
        return p_value, len(listed), ()
    best, chosen = min(1.0, 2 * p_value), tuple[Respelling, ...]()
    shares = log_shares(listed)
    gains = _gains(scheme, ids, listed) + shares
    taken, paid = list[Respelling](), list[float]()
    free = np.ones(len(ids), np.bool_)
    for at in np.argsort(-gains, kind="stable")[:_MOST_RESPELLED].tolist():
        one = listed[at]
        if gains[at] <= 0:
            break
        if not free[one.begin : one.end].all():
            continue
        free[one.begin : one.end] = False
        taken.append(one)
        paid.append(float(shares[at]))
        evidence = scheme.evidence(respelled(ids, taken))
        evidence = evidence.distinct() if once else evidence
        of_this = float(scheme.null.p_values(BatchEvidence.of(evidence))[0])
        corrected = _divided(of_this, log_weight(paid))
        if corrected < best:
            best, chosen = corrected, tuple(taken)
    return best, len(listed), chosen


def _follows_tokens(ids: Sequence[int], place: int, context: int) -> bool:
    """Whether the context of a place is one of tokens. An engine puts -1 before the first ones."""
    return all(token >= 0 for token in ids[max(0, place - context) : place])


def log_weight(shares: Sequence[float]) -> float:
    """The logarithm of the weight of a tokenization, from those of its respellings' shares."""
    count = len(shares)
    return sum(shares) + math.lgamma(count + 1) - math.log(2 * count * (count + 1))


def log_shares(listed: Sequence[Respelling]) -> Floats:
    """float64[n]: the logarithms of the respellings' shares."""
    moves = np.array([one.moves_a_cut for one in listed])
    alike = np.where(moves, moves.sum(), len(moves) - moves.sum())
    shares: Floats = -np.log(2.0 * alike)
    return shares


def _divided(p_value: float, log_weight: float) -> float:
    if p_value == 0:
        return 0.0
    return min(1.0, math.exp(min(math.log(p_value) - log_weight, 0.0)))


def _gains(scheme: Detectable, ids: Sequence[int], listed: Sequence[Respelling]) -> Floats:
    """float64[n]: about how much each respelling adds to the log-likelihood ratio of the text.

    Only the tokens of a respelling and the `context` tokens after it score otherwise with it. All
    of these parts of texts are scored in one call.
    """
    context = scheme.context
    logs, positions = _logs(scheme, np.asarray(ids, np.int64))
    strength = int(logs.sum(axis=1).argmax())
    plain = np.zeros(len(ids) + 1)
    plain[positions + 1] = logs[strength]
    sums = np.cumsum(plain)
    parts = [
        [
            *ids[max(0, one.begin - context) : one.begin],
            *one.tokens,
            *ids[one.end : one.end + context],
        ]
        for one in listed
    ]
    lengths = np.array([len(part) for part in parts])
    starts = np.cumsum(lengths) - lengths
    logs, positions = _logs(scheme, np.concatenate([np.array(part, np.int64) for part in parts]))
    which = np.searchsorted(starts, positions, side="right") - 1
    own = positions - starts[which] >= context
    after = np.bincount(which[own], weights=logs[strength][own], minlength=len(listed))
    begins = np.array([one.begin for one in listed])
    ends = np.minimum(np.array([one.end for one in listed]) + context, len(ids))
    gains: Floats = after - (sums[ends] - sums[begins])
    return gains


def _logs(scheme: Detectable, ids: Ints) -> tuple[Floats, Ints]:
    evidence = scheme.evidence(ids)
    return scheme.null.likelihood_ratios(BatchEvidence.of(evidence)).logs, evidence.positions
