"""Which stretch of a text speaks most for a watermark, and how surprising that is.

Without a watermark, let X_1, X_2, ... be the log-likelihood ratios of a text's tokens, of which
E exp(X_n) <= 1 given all before, S_n their sum, m_n the least of S_0 = 0, ..., S_n, and
W_n = S_n - m_n, which is the highest sum of any stretch that ends at n. Let each token's mean loss
E(-X_n) be at most L given all before.

1. Where S_n is no new minimum, W_n = W_(n-1) + X_n and m_n = m_(n-1).
2. Where it is one, W_n = 0, and m falls by d = -(W_(n-1) + X_n). Then
   exp(W_n) = 1 <= exp(-d) + d = exp(W_(n-1) + X_n) + m_(n-1) - m_n.
3. In both cases exp(W_n) + m_n <= exp(W_(n-1)) exp(X_n) + m_(n-1). So exp(W_n) + m_n, which is
   exp(W_n) - W_n + S_n, is a supermartingale, and begins with 1.
4. Stop it at any time t up to N: E[exp(W_t) - W_t - 1] <= E[-S_t] <= L N. So the mean of
   Q_t = (exp(W_t) - W_t - 1) / (L N) is at most 1.
5. So is the mean of any average of such Q, of watermarks of several strengths. Stop at the first
   time at which the average is 1/p or more: the probability that there is one is at most p.

For example, a text of 1,000 tokens with half of its tokens green, of which 74 % would be in marked
text: L = 0.131, and a stretch of sum 16 has a p-value of 131 / (exp(16) - 17) = 1.5e-5. With
Ville's inequality for each of the 1,000 beginnings it would be 1.1e-4, and of all stretches by
themselves 0.056.

No independence is asked for: where lists hold an exact number of greens, X_n is made with the
probability that the list's earlier draws leave (see `ticore.schemes.significance`).

Where a score exceeds any value as it does 0 (`Bets.excess`), step 5 is better still: at the first
time that the average is y or more, its mean is that many times y, given all before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..schemes import Evidence, Null
from ..schemes.evidence import Evidences
from ..schemes.significance import Bets

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Texts are looked at side by side, in tables of at most so many numbers for each strength, with a
# row for each text. A row of so few numbers more may as well be filled up.
_MOST_CELLS = 1 << 12
_SLACK = 16
_LEAST = 1e-300


@dataclass(frozen=True)
class Segment:
    """The stretch of a text that speaks most for a watermark.

    Attributes:
        begin, end: of its tokens, `ids[begin:end]`.
        p_value: the probability that a text of this length without a watermark has a stretch that
            speaks as much for one. An upper bound, whatever the stretch's length.
    """

    begin: int
    end: int
    p_value: float


def find_segment(null: Null, evidence: Evidence) -> Segment:
    """The stretch of one text; its p-value is 1 where no stretch speaks for a watermark."""
    return find_segments(null, Evidences.of(evidence))[0]


def find_segments(null: Null, texts: Evidences) -> list[Segment]:
    """Of each text the stretch that speaks most for a watermark of any strength."""
    lengths = texts.lengths
    if not len(texts.all):
        return [Segment(0, 0, 1.0) for _ in lengths]
    bets = null.bets(texts)
    if len(lengths) == 1:
        found = _highest(bets, texts.bounds[:1], lengths)
    else:
        none = np.zeros(len(lengths), np.int64)
        found = none, none.copy(), np.ones(len(lengths))
        for which in _alike(lengths):
            parts = _highest(bets, texts.bounds[which], lengths[which])
            for whole, part in zip(found, parts, strict=True):
                whole[which] = part
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


def _alike(lengths: Ints) -> Iterator[Ints]:
    """Numbers of texts of similar lengths, the longest first; none of length 0."""
    order = np.argsort(-lengths, kind="stable")
    at = 0
    while at < len(order) and lengths[order[at]]:
        longest = int(lengths[order[at]])
        several = order[at : at + max(1, _MOST_CELLS // longest)]
        count = int((lengths[several] >= longest - max(_SLACK, longest // 8)).sum())
        yield several[:count]
        at += count


def _highest(bets: Bets, starts: Ints, lengths: Ints) -> tuple[Ints, Ints, Floats]:
    """Begins and ends of the stretches, counted in scores, and p-values, for some texts.

    The longest one comes first.
    """
    longest = int(lengths[0])
    texts = np.arange(len(lengths))
    sums = np.zeros((len(bets.losses), len(lengths), longest + 1))
    if len(lengths) == 1:
        rows = bets.ratios[:, None, starts[0] : starts[0] + longest]
    else:
        places = np.arange(longest)
        inside = places < lengths[:, None]
        # After a text's end nothing is added, so what comes there is never higher.
        rows = bets.ratios[:, np.where(inside, starts[:, None] + places, 0)]
        rows *= inside
    np.add.accumulate(rows, axis=2, out=sums[:, :, 1:])
    above = np.minimum.accumulate(sums, axis=2)
    np.subtract(sums, above, out=above)
    # In parts of the highest exponential, which may be too high for a number.
    scale = np.maximum.reduce(np.maximum.reduce(above, axis=2), axis=0)
    parts = np.subtract(above, scale[:, None], out=sums)
    np.exp(parts, out=parts)
    parts -= (above + 1) * np.exp(-scale)[:, None]
    parts *= (bets.excess / bets.losses / len(bets.losses))[:, None, None]
    mean = np.add.reduce(parts, axis=0)
    ends = mean.argmax(axis=1)
    strength = parts[:, texts, ends].argmax(axis=0)
    # The stretch begins where that strength's sum was lowest, for the last time.
    lowest = (above[strength, texts] == 0) & (np.arange(longest + 1) <= ends[:, None])
    begins = longest - lowest[:, ::-1].argmax(axis=1)
    highest = mean[texts, ends]
    # Where the highest is tiny the p-value is 1.
    p_values = lengths * np.exp(-scale) / np.maximum(highest, _LEAST)
    return begins, ends, np.minimum(p_values, 1.0)
