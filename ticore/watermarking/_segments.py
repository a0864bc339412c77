"""Which segment of a text is the best evidence for a watermark, and how surprising it is.

Let X_1, X_2, ... be the log-likelihood ratios of a text's tokens. Without a watermark
E exp(X_n) <= 1, and the mean loss E(-X_n) is at most L, both given all tokens before. Let S_n be
the sum of the first n, m_n the least of S_0 = 0, ..., S_n, and W_n = S_n - m_n. W_n is the highest
sum of all segments that end at n.

1. S_n is not a new minimum. Then W_n = W_(n-1) + X_n and m_n = m_(n-1).
   Example: from W = 2 a green token (X = 0.3) leads to W = 2.3.
2. S_n is a new minimum, lower by d. Then W_n = 0 and W_(n-1) + X_n = -d, so that
   exp(W_n) = 1 <= exp(-d) + d = exp(W_(n-1) + X_n) + m_(n-1) - m_n.
   Example: from W = 0.1 a red token (X = -0.5) leads to W = 0 and d = 0.4: 1 <= 0.67 + 0.4.
3. In both cases exp(W_n) + m_n <= exp(W_(n-1)) exp(X_n) + m_(n-1). So exp(W_n) + m_n, which is
   exp(W_n) - W_n + S_n, is a supermartingale. It begins with 1.
4. Stop it at any time t up to N: E[exp(W_t) - W_t - 1] <= E[-S_t] <= L N. So the mean of
   Q_t = (exp(W_t) - W_t - 1) / (L N) is at most 1.
5. The mean of an average of several Q, one for each strength of watermark, is at most 1 too. Stop
   where the average is 1/p or more for the first time. This happens with probability p at most.

Example: in a text of 1,000 tokens half of the tokens are green, and 74 % would be in marked text.
Then L = 0.131, and a segment of sum 16 has a p-value of 131 / (exp(16) - 17) = 1.5e-5. Ville's
inequality for each of the 1,000 beginnings would give 1.1e-4, and one for each segment 0.056.

The tokens need not be independent. Where lists have an exact number of green tokens, X_n is
computed with the probability after the list's earlier draws (see
`ticore.schemes._null_distributions`).

Exponential scores make step 5 better still: given that such a score exceeds a value, the excess is
distributed as the score itself. Let strength k have e_k (`LikelihoodRatios.excess`): when a sum
passes a threshold, its exponential is on average e_k times that of the threshold, and so Q_k is at
least e_k times what it would be there. Now stop where the average of e_k Q_k is y or more for the
first time. If the last score were just high enough for y, the average of e_k Q_k would be y. So the
average of Q_k has a mean of at least y over the texts in which this happens, and the probability of
that is at most 1/y, as in step 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemes import Evidence, NullDistribution
from ..schemes._evidence import BatchEvidence
from ..schemes._null_distributions import LikelihoodRatios

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Texts of similar lengths are computed together, in a table with a row for each text and at most
# `_MOST_CELLS` numbers for each strength. Rows that are shorter by up to `_SLACK` are filled up.
_MOST_CELLS = 1 << 12
_SLACK = 16
_LEAST = 1e-300
_ROWS = 16  # scores of each text whose likelihood ratios `least_p_values` computes at once


@dataclass(frozen=True)
class Segment:
    """The segment of a text that is the best evidence for a watermark.

    Attributes:
        begin, end: its tokens are `ids[begin:end]`.
        p_value: an upper bound on the probability that a text of this length without a watermark
            has a segment, of any length, that is as good evidence.
    """

    begin: int
    end: int
    p_value: float


def find_segments(null: NullDistribution, texts: BatchEvidence) -> list[Segment]:
    """The best segment of each text, for watermarks of any strength.

    Its p-value is 1 where no segment is evidence.
    """
    lengths = texts.lengths
    if not len(texts.all):
        return [Segment(0, 0, 1.0) for _ in lengths]
    ratios = null.likelihood_ratios(texts)
    if len(lengths) == 1:
        found = _best_segments(ratios, texts.bounds[:1], lengths)
    else:
        none = np.zeros(len(lengths), np.int64)
        found = none, none.copy(), np.ones(len(lengths))
        for selected in _of_similar_lengths(lengths):
            parts = _best_segments(ratios, texts.bounds[selected], lengths[selected])
            for whole, part in zip(found, parts, strict=True):
                whole[selected] = part
    segments = []
    positions = texts.all.positions
    columns = (texts.bounds[:-1], *found)
    for start, begin, end, p_value in zip(*(one.tolist() for one in columns), strict=True):
        if begin == end:
            segments.append(Segment(0, 0, 1.0))
        else:
            first, last = int(positions[start + begin]), int(positions[start + end - 1])
            segments.append(Segment(first, last + 1, p_value))
    return segments


def _of_similar_lengths(lengths: Ints) -> Iterator[Ints]:
    """The numbers of texts of similar lengths, the longest first, without those of length 0."""
    order = np.argsort(-lengths, kind="stable")
    at = 0
    while at < len(order) and lengths[order[at]]:
        longest = int(lengths[order[at]])
        several = order[at : at + max(1, _MOST_CELLS // longest)]
        count = int((lengths[several] >= longest - max(_SLACK, longest // 8)).sum())
        yield several[:count]
        at += count


def _best_segments(
    ratios: LikelihoodRatios, starts: Ints, lengths: Ints
) -> tuple[Ints, Ints, Floats]:
    """For some texts, the longest first: begin and end of the best segments, and p-values.

    Begin and end count scores, not tokens.
    """
    longest = int(lengths[0])
    texts = np.arange(len(lengths))
    sums = np.zeros((len(ratios.losses), len(lengths), longest + 1))
    if len(lengths) == 1:
        rows = ratios.logs[:, None, starts[0] : starts[0] + longest]
    else:
        offsets = np.arange(longest)
        inside = offsets < lengths[:, None]
        # Nothing is added after a text's end, so no sum is higher there.
        rows = ratios.logs[:, np.where(inside, starts[:, None] + offsets, 0)]
        rows *= inside
    np.add.accumulate(rows, axis=2, out=sums[:, :, 1:])
    above = np.minimum.accumulate(sums, axis=2)
    np.subtract(sums, above, out=above)
    # In units of the highest exponential, which may be too high for a float.
    scale = np.maximum.reduce(np.maximum.reduce(above, axis=2), axis=0)
    parts = np.subtract(above, scale[:, None], out=sums)
    np.exp(parts, out=parts)
    parts -= (above + 1) * np.exp(-scale)[:, None]
    parts *= ratios.factors[:, None, None]
    mean = np.add.reduce(parts, axis=0)
    ends = mean.argmax(axis=1)
    strength = parts[:, texts, ends].argmax(axis=0)
    # The segment begins where the sum for that strength was lowest for the last time.
    lowest = (above[strength, texts] == 0) & (np.arange(longest + 1) <= ends[:, None])
    begins = longest - lowest[:, ::-1].argmax(axis=1)
    highest = mean[texts, ends]
    # Where the highest average is tiny, the p-value is 1.
    p_values = lengths * np.exp(-scale) / np.maximum(highest, _LEAST)
    return begins, ends, np.minimum(p_values, 1.0)


def least_p_values(
    null: NullDistribution, scores: npt.NDArray[Any], counted: npt.NDArray[np.bool_] | None
) -> Floats:
    """float64[texts]: no segment of a text has a lower p-value; faster than `find_segments`.

    The p-value is 1 over the highest average of Q_k. This is 1 over the average of the highest Q_k.

    Args:
        null: whose likelihood ratios depend on the score alone.
        scores: [n, texts]; so it is fast for many texts, that is for one text under many keys.
        counted: bool[n, texts], which scores count; None: all.
    """
    length, texts = scores.shape
    sums = highest = np.zeros((1, texts))
    widest = 0.0
    for begin in range(0, length, _ROWS):
        rows = scores[begin : begin + _ROWS].astype(np.float64, copy=False)
        none = np.broadcast_to(np.int64(0), (rows.size,))
        flat = Evidence(none, none, none, rows.ravel())
        ratios = null.likelihood_ratios(BatchEvidence.of(flat))
        logs = ratios.logs.reshape(-1, *rows.shape).astype(np.float32)
        if counted is not None:
            logs = logs * counted[begin : begin + _ROWS]
        if begin == 0:
            sums = np.zeros((len(logs), texts), np.float32)
            highest, factors = sums.copy(), ratios.factors
        widest = max(widest, float(np.abs(logs).max(initial=0.0)))
        for row in range(len(rows)):
            sums += logs[:, row]
            np.maximum(sums, 0.0, out=sums)
            np.maximum(highest, sums, out=highest)
    if not length:
        return np.ones(texts)
    lengths = length if counted is None else counted.sum(axis=0)
    # Each sum is rounded twice per score, by at most 2^-24 of itself or of the score's logarithm.
    above = highest.astype(np.float64) * (1 + length * 2.0**-22) + length * widest * 2.0**-22
    with np.errstate(over="ignore"):
        average = factors @ (np.expm1(above) - above)
    bounds: Floats = np.minimum(lengths / np.maximum(average, _LEAST) * (1 - 1e-6), 1.0)
    return bounds
