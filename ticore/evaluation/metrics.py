"""What hiding costs and what it carries: the field's measures, in bits unless said otherwise.

The writer's tokens follow a distribution q, the model's own is p. What lies between them is done in
three steps, and their divergences add up:

    D(q || p) = truncation + filter + codec

Truncation keeps the candidates (top-k, top-p, no special tokens), filtering keeps those that the
disambiguation lets the reader tell apart, and the codec chooses among them, most codecs exactly by
their probabilities. The first two keep part of a distribution and scale it up; of that, the
divergence is minus the logarithm of the share that was kept.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from ..codecs import Codec
from ..interfaces import LanguageModel
from ..steganography.walk import Step

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measures:
    """Means over the tokens that carry bits, the same tokens for all of them.

    Attributes:
        tokens: how many there are.
        entropy: of what the codec chooses from. A codec can carry no more.
        kl_truncation, kl_filter, kl_codec: divergences, see above.
        kl: D(q || p), computed at one go.
        total_variation: half the sum of |q - p|, from 0 to 1.
        perplexity: exp of the mean negative log-likelihood of the tokens that were chosen, under p.
    """

    tokens: int
    entropy: float
    kl_truncation: float
    kl_filter: float
    kl_codec: float
    kl: float
    total_variation: float
    perplexity: float

    def utilisation(self, bits: int) -> float:
        """How many of these `bits` each bit of entropy carried; NaN where there is no entropy."""
        whole = self.entropy * self.tokens
        return bits / whole if whole else math.nan


class Meter:
    """Measures a text while it is written: an observer of `Steganographer.embed_bits_report`.

    Args:
        codec: one of the kind that writes.
        temperature: p is the model's distribution at this temperature, over all of its logits.

    >>> import ticore
    >>> from ticore.codecs import ArithmeticCodec
    >>> stego = ticore.Steganographer(ticore.load_model("tiny-en"), prompt="One day", top_k=16)
    >>> meter = Meter(ArithmeticCodec())
    >>> report = stego.embed_bits_report([0, 1] * 32, observer=meter)
    >>> 0.5 < meter.measures().utilisation(64) < 1.5
    True
    """

    def __init__(self, codec: Codec, temperature: float = 1.0) -> None:
        self._codec = codec
        self._temperature = temperature
        self._rows: list[tuple[float, ...]] = []

    def __call__(self, step: Step, index: int) -> None:
        """Measure one step, of which choice `index` was taken."""
        p = softmax(np.asarray(step.logits, dtype=np.float64) / self._temperature)
        choices = step.choices
        emitted = self._codec.emitted(step.weights)
        kept = choices.kept.ids
        # A group's share goes to its tokens by what the model gives each of them.
        groups = np.bincount(choices.group, p[kept], minlength=len(emitted))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(groups[choices.group] > 0, p[kept] / groups[choices.group], 0.0)
        q = np.zeros_like(p)
        q[kept] = emitted[choices.group] * inside
        in_pool, left = p[step.pool.ids].sum(), p[kept].sum()
        self._rows.append(
            (
                entropy(emitted),
                -math.log2(in_pool),
                math.log2(in_pool / left),
                kl_divergence(q[kept], p[kept] / left),
                kl_divergence(q, p),
                total_variation(q, p),
                -math.log(p[choices.ids[index]]),  # comes out as the perplexity
            )
        )

    def measures(self) -> Measures:
        """Of all steps so far; NaN where there are none."""
        if not self._rows:
            return Measures(0, *[math.nan] * 7)
        means = np.mean(self._rows, axis=0).tolist()
        means[-1] = math.exp(means[-1])
        return Measures(len(self._rows), *means)


def softmax(logits: Floats) -> Floats:
    """Probabilities float64[n] of logits float64[n]; -inf is allowed, if not for all."""
    exponentials: Floats = np.exp(logits - logits.max())
    exponentials /= exponentials.sum()
    return exponentials


def entropy(p: Floats) -> float:
    """-sum of p log2 p, for probabilities float64[n] with zeros among them or not."""
    some = p[p > 0]
    return float(-(some * np.log2(some)).sum())


def kl_divergence(q: Floats, p: Floats) -> float:
    """D(q || p), the sum of q log2(q / p); infinite where p is 0 and q is not. float64[n] each."""
    some = q > 0
    with np.errstate(divide="ignore"):
        return float((q[some] * np.log2(q[some] / p[some])).sum())


def total_variation(q: Floats, p: Floats) -> float:
    """Half the sum of |q - p|: the best chance to tell which of the two a draw is from, less half.

    float64[n] each; 0 to 1.
    """
    return float(np.abs(q - p).sum() / 2)


def log_likelihood(
    model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]
) -> float | None:
    """Natural logarithm of the probability of `ids` behind a prompt, at temperature 1.

    None where the model's context does not hold them, as may be if they are not what was written.
    """
    whole = [*prompt_ids, *ids]
    if len(whole) > model.context_length:
        return None
    logits: Any = np.asarray(model.score(whole), dtype=np.float64)[len(prompt_ids) :]
    highest = logits.max(axis=-1, keepdims=True)
    sums = np.log(np.exp(logits - highest).sum(axis=-1)) + highest[:, 0]
    return float((logits[np.arange(len(ids)), list(ids)] - sums).sum())


def perplexity(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> float | None:
    """exp of the mean negative log-likelihood of `ids`, which are not empty. None as above.

    Of the tokens written, or of those that the text is read as: the two differ where a text is
    inconsistent.
    """
    found = log_likelihood(model, prompt_ids, ids)
    return None if found is None else math.exp(-found / len(ids))


@dataclass(frozen=True)
class Rate:
    """A share of trials, and where its true value lies with 95 % confidence.

    Attributes:
        value, low, high: 0 to 1.
    """

    value: float
    low: float
    high: float


def rate(events: int, trials: int) -> Rate:
    """The share of `events` in `trials`, at least one, with Clopper and Pearson's exact interval.

    >>> rate(0, 100)
    Rate(value=0.0, low=0.0, high=0.0362...)
    """
    tail = 0.025
    low = float(betaincinv(events, trials - events + 1, tail)) if events else 0.0
    high = float(betaincinv(events + 1, trials - events, 1 - tail)) if events < trials else 1.0
    return Rate(events / trials, low, high)


def peak_memory() -> int | None:
    """The most bytes of memory that this process held at a time; None where that is not known."""
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ModuleNotFoundError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
