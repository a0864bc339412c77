"""What a text says about a payload: the bytes that are read, and whether there is any.

A payload has k bytes at k places. Each counted token carries one place and has 256 independent
scores, one for each value of the byte; without a watermark each is exponential with mean 1.

*Is there a mark?* At a place with n tokens let M be the highest of the 256 sums. Without a
watermark the sums are independent and gamma distributed with shape n, so that

    p = 1 - (1 - Q(n, M))^256          Q: the upper tail

is exactly uniform: it pays for the choice among all values. The places are independent, so the sum
of -log p over the places with a token is gamma distributed (Fisher). Nothing depends on a payload.

*Where is it?* The likelihood ratio of a token is that of a reader who has not seen it yet: the
average over all values, weighted by how well each explains the place's earlier tokens. Given these
it has a mean of exactly 1 without a watermark, as `LikelihoodRatios` asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from ._evidence import BatchEvidence, Evidence, Floats, Ints
from ._null_distributions import TILTS, LikelihoodRatios, SingleTextMethods

VALUES = 256
"""The values of a byte."""

_LEAST = 1e-300  # a tail below it counts as this: the p-value is then too high, if anything
_BELOW_ONE = 1 - 2.0**-53
# The strengths of mark among which a reader is undecided before reading; 0 is no mark.
_PRIOR_TILTS = np.arange(0.0, 0.95, 0.05)


@dataclass(frozen=True, eq=False)
class PayloadEvidence(Evidence):
    """The tokens that a scheme with a payload can score: arrays of one length n.

    Attributes:
        places: int64[n], which byte of the payload a token carries.
        value_scores: float64[n, 256], the score of a token for each value of that byte.
            `scores` has the highest of them.
    """

    places: Ints
    value_scores: Floats

    def where(self, selected: Ints | npt.NDArray[np.bool_] | slice) -> PayloadEvidence:
        """The tokens that an index selects."""
        return PayloadEvidence(
            self.positions[selected],
            self.seeds[selected],
            self.draw_ids[selected],
            self.scores[selected],
            self.places[selected],
            self.value_scores[selected],
        )

    def scores_of(self, payload: bytes) -> Floats:
        """float64[n]: the tokens' scores for the bytes of one payload."""
        values = np.frombuffer(payload, np.uint8)[self.places]
        found: Floats = self.value_scores[np.arange(len(self)), values]
        return found


@dataclass(frozen=True)
class FoundPayload:
    """The payload that is read from a text. It means something only if the text is watermarked.

    The confidences are posterior probabilities: before reading, all payloads are equally likely,
    and so are marks of all strengths and none. They are estimates, not guarantees.

    Attributes:
        payload: the likeliest bytes.
        confidence: the probability that all of them are right.
        bit_confidences: that of each bit, the highest bit of the first byte first; 0.5 where
            nothing is known.
    """

    payload: bytes
    confidence: float
    bit_confidences: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The payload in hex digits and its confidences, in types that JSON has."""
        return {
            "payload": self.payload.hex(),
            "confidence": self.confidence,
            "bit_confidences": list(self.bit_confidences),
        }


@dataclass(frozen=True)
class PayloadNull(SingleTextMethods):
    """The distribution of evidence for any payload, in text without a watermark.

    Attributes:
        places: how many bytes the payload has.
    """

    places: int

    def strengths(self, texts: BatchEvidence) -> Floats:
        """The sum of -log p over the places, in standard deviations above its mean."""
        sums, used = self._sums(texts)
        with np.errstate(invalid="ignore", divide="ignore"):
            strengths: Floats = (sums - used) / np.sqrt(used)
        return strengths

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The exact tail of that sum."""
        sums, used = self._sums(texts)
        return np.where(used > 0, scipy.special.gammaincc(np.maximum(used, 1), sums), 1.0)

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """Ratios of a reader who learns the payload from one token after the other.

        The loss is at most the average of the losses of all values, since -log is convex.
        """
        one = _of_payload(texts.all)
        logs = np.zeros((len(TILTS), len(one)))
        for at in range(len(texts.bounds) - 1):
            for rows in self._rows(texts, at):
                known = _known(one.value_scores[rows])
                logs[:, rows] = np.diff(known, axis=1, prepend=0.0)
        return LikelihoodRatios(logs, -np.log1p(-TILTS) - TILTS, np.ones(len(TILTS)))

    def read(self, evidence: Evidence) -> FoundPayload:
        """The payload of one text.

        Args:
            evidence: of the scheme, each draw once.
        """
        one = BatchEvidence.of(evidence)
        sums, counts = self._totals(one, 0)
        # float64[strengths, places, values], logarithms.
        likelihoods = (
            counts[:, None] * np.log1p(-_PRIOR_TILTS)[:, None, None]
            + _PRIOR_TILTS[:, None, None] * sums
        )
        of_places = scipy.special.logsumexp(likelihoods, axis=2)
        strengths = scipy.special.softmax(of_places.sum(axis=1))
        values = np.exp(likelihoods - of_places[..., None])
        best = sums.argmax(axis=1)
        right = values[:, np.arange(self.places), best].prod(axis=1)
        of_values = np.tensordot(strengths, values, axes=1)
        bits = np.unpackbits(np.arange(VALUES, dtype=np.uint8)[:, None], axis=1)
        same = bits[:, None] == bits[best]  # bool[values, places, bits]
        confidences = np.einsum("pv,vpb->pb", of_values, same)
        return FoundPayload(
            bytes(best.tolist()),
            min(1.0, float(strengths @ right)),
            tuple(np.minimum(confidences, 1.0).ravel().tolist()),
        )

    def _sums(self, texts: BatchEvidence) -> tuple[Floats, Ints]:
        """For each text the sum of -log p over its places, and how many places have a token."""
        sums, used = np.zeros(len(texts.lengths)), np.zeros(len(texts.lengths), np.int64)
        for at in range(len(sums)):
            of_values, counts = self._totals(texts, at)
            some = counts > 0
            tails = scipy.special.gammaincc(counts[some], of_values[some].max(axis=1))
            least = -np.expm1(VALUES * np.log1p(-np.clip(tails, _LEAST, _BELOW_ONE)))
            sums[at], used[at] = -np.log(least).sum(), some.sum()
        return sums, used

    def _totals(self, texts: BatchEvidence, text: int) -> tuple[Floats, Ints]:
        """The sums of scores of each value at each place, float64[places, 256], and int64[places]
        tokens."""
        one = _of_payload(texts.all)
        rows = self._rows(texts, text)
        sums = np.stack([one.value_scores[each].sum(axis=0) for each in rows])
        return sums, np.array([len(each) for each in rows])

    def _rows(self, texts: BatchEvidence, text: int) -> list[Ints]:
        """The tokens of a text that carry each place, as places in `texts.all`."""
        begin, end = texts.bounds[text : text + 2].tolist()
        places = _of_payload(texts.all).places[begin:end]
        return [begin + np.flatnonzero(places == place) for place in range(self.places)]


def _known(scores: Floats) -> Floats:
    """float64[tilts, n]: the log-likelihood ratio of the first tokens of a place, over all values.

    Args:
        scores: float64[n, 256].
    """
    sums = scores.copy()
    for at in range(1, len(sums)):  # NumPy's cumsum takes four times as long along this axis
        sums[at] += sums[at - 1]
    highest = sums.max(axis=1)
    sums -= highest[:, None]
    others = np.array([np.exp(tilt * sums).sum(axis=1) for tilt in TILTS])
    counts = np.arange(1, len(scores) + 1)
    found: Floats = (
        np.log(others)
        - np.log(VALUES)
        + np.outer(np.log1p(-TILTS), counts)
        + np.outer(TILTS, highest)
    )
    return found


def _of_payload(evidence: Evidence) -> PayloadEvidence:
    assert isinstance(evidence, PayloadEvidence)
    return evidence
