"""How much a hidden message changes the text, and how much the text carries, in bits.

p is the model's distribution of the next token, q is the distribution of the tokens that the writer
chooses. Three steps lead from p to q, and their divergences add up:

    D(q || p) = truncation + filter + codec

1. Truncation leaves the candidates: top-k, top-p, no special tokens.
2. The filter leaves the candidates that the disambiguation lets the reader tell apart.
3. The codec chooses among them. Most codecs choose exactly by the probabilities.

Steps 1 and 2 leave a part of a distribution and scale it up to 1. If that part had the share s of
the probability, its divergence is -log2 s. Example: candidates that hold a half cost 1 bit.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._support.deprecation import warn_deprecated
from .._support.share_interval import share_interval
from ..codecs import Codec
from ..disambiguation._look_ahead import PathChoices
from ..errors import SettingsError
from ..interfaces import LanguageModel

if TYPE_CHECKING:
    from ..steganography._step import Step

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measures:
    """Means over the tokens that carry bits.

    Attributes:
        token_count: the number of these tokens.
        entropy: bits per token of the distribution that the codec chooses from, which is the most
            that a codec can carry on average.
        kl_truncation, kl_filter, kl_codec: bits per token of the three steps, see the module.
        kl: D(q || p) in bits per token, computed directly.
        total_variation: half the sum of |q - p|, 0 to 1.
        perplexity: exp of the mean negative log-likelihood of the chosen tokens under p.
    """

    token_count: int
    entropy: float
    kl_truncation: float
    kl_filter: float
    kl_codec: float
    kl: float
    total_variation: float
    perplexity: float

    @property
    def tokens(self) -> int:
        """The old name of `token_count`."""
        warn_deprecated("Measures.tokens", "Measures.token_count")
        return self.token_count

    def utilisation(self, bits: int) -> float:
        """How much of the entropy was used.

        Args:
            bits: the number of bits that the text carries.

        Returns:
            Bits carried per bit of entropy; NaN if there is no entropy.
        """
        whole = self.entropy * self.token_count
        return bits / whole if whole else math.nan


class Meter:
    """Measures a text while it is written, as the observer of `Steganographer.embed_bits`.

    Use one Meter per text.

    Args:
        codec: a codec with the settings of the one that writes.
        temperature: of p, the model's distribution over all of its tokens.

    >>> import ticore
    >>> from ticore.codecs import ArithmeticCodec
    >>> stego = ticore.Steganographer(ticore.load_model("tiny-en"), prompt="One day", top_k=16)
    >>> meter = Meter(ArithmeticCodec())
    >>> report = stego.embed_bits([0, 1] * 32, observer=meter)
    >>> 0.5 < meter.measures().utilisation(64) < 1.5
    True
    """

    def __init__(self, codec: Codec, temperature: float = 1.0) -> None:
        self._codec = codec
        self._temperature = temperature
        self._rows: list[tuple[float, ...]] = []

    def __call__(self, step: Step, index: int) -> None:
        """Measure one step.

        Args:
            step: the choices of this step.
            index: the choice that the codec took.

        Raises:
            SettingsError: the disambiguation takes tokens back, so that steps are not tokens.
        """
        if isinstance(step.choices, PathChoices):
            raise SettingsError(
                "disambiguation: expected one whose steps are tokens, as a Meter needs, found "
                "'lookahead'; use 'syncpool', or read Embedding.bits_per_token"
            )
        p = softmax(np.asarray(step.logits, dtype=np.float64) / self._temperature)
        choices = step.choices
        emitted = self._codec.emitted(step.weights)
        ids = choices.kept.ids
        # The share of a group is divided among its tokens in proportion to p.
        groups = np.bincount(choices.group, p[ids], minlength=len(emitted))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(groups[choices.group] > 0, p[ids] / groups[choices.group], 0.0)
        q = np.zeros_like(p)
        q[ids] = emitted[choices.group] * inside
        in_pool, left = p[step.pool.ids].sum(), p[ids].sum()
        self._rows.append(
            (
                entropy(emitted),
                -math.log2(in_pool),
                math.log2(in_pool / left),
                kl_divergence(q[ids], p[ids] / left),
                kl_divergence(q, p),
                total_variation(q, p),
                -math.log(p[choices.ids[index]]),  # its mean gives the perplexity
            )
        )

    def measures(self) -> Measures:
        """The measures of all steps so far; if there are none, all are NaN but the count."""
        if not self._rows:
            return Measures(0, *[math.nan] * 7)
        means = np.mean(self._rows, axis=0).tolist()
        means[-1] = math.exp(means[-1])
        return Measures(len(self._rows), *means)


def softmax(logits: Floats) -> Floats:
    """Probabilities float64[n] of logits float64[n], of which some but not all may be -inf."""
    exponentials: Floats = np.exp(logits - logits.max())
    exponentials /= exponentials.sum()
    return exponentials


def entropy(p: Floats) -> float:
    """-sum of p log2 p in bits, for probabilities float64[n], which may be 0."""
    some = p[p > 0]
    return float(-(some * np.log2(some)).sum())


def kl_divergence(q: Floats, p: Floats) -> float:
    """D(q || p) in bits: the sum of q log2(q / p). Infinite if some p is 0 where q is not.

    Args:
        q, p: probabilities float64[n].
    """
    some = q > 0
    with np.errstate(divide="ignore"):
        return float((q[some] * np.log2(q[some] / p[some])).sum())


def total_variation(q: Floats, p: Floats) -> float:
    """Half the sum of |q - p|, 0 to 1.

    The best guess of which of the two distributions a sample is from is right with probability
    (1 + total variation) / 2.

    Args:
        q, p: probabilities float64[n].
    """
    return float(np.abs(q - p).sum() / 2)


def log_likelihood(
    model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]
) -> float | None:
    """Natural logarithm of the probability of `ids` after a prompt, at temperature 1.

    Returns:
        None if the model's context is too short for prompt and ids. That can happen for ids that
        were read back, which may be more than those written.
    """
    whole = [*prompt_ids, *ids]
    if len(whole) > model.context_length + 1:  # the last id need not be read
        return None
    rows = np.asarray(model.score(whole))[len(prompt_ids) :]
    # Row by row: with a large vocabulary, temporary copies of all rows would take gigabytes.
    logits = np.empty(rows.shape[-1])
    found = np.empty(len(ids))
    for at, (row, token) in enumerate(zip(rows, ids, strict=True)):
        logits[:] = row
        logits -= logits.max()
        of_token = logits[token]
        found[at] = of_token - np.log(np.exp(logits, out=logits).sum())
    return float(found.sum())


def perplexity(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> float | None:
    """exp of the mean negative log-likelihood of tokens after a prompt.

    For an inconsistent text, the tokens that were written and the tokens that it is read back as
    have different perplexities.

    Args:
        model: any language model.
        prompt_ids: ids that the model reads first.
        ids: the tokens; at least one.

    Returns:
        None if the model's context is too short for both.
    """
    found = log_likelihood(model, prompt_ids, ids)
    return None if found is None else math.exp(-found / len(ids))


@dataclass(frozen=True)
class Rate:
    """A share of trials with its 95 % confidence interval.

    Attributes:
        value: the share, 0 to 1.
        low, high: the ends of the interval, 0 to 1.
    """

    value: float
    low: float
    high: float


def rate(events: int, trials: int) -> Rate:
    """The share of events in trials, with Clopper and Pearson's exact interval.

    Args:
        events: how often it happened, 0 to `trials`.
        trials: at least 1.

    >>> rate(0, 100)
    Rate(value=0.0, low=0.0, high=0.0362...)
    """
    return Rate(events / trials, *share_interval(events, trials, 0.95))


def peak_memory() -> int | None:
    """The peak resident memory of this process in bytes; None if the system does not tell it."""
    # On Linux getrusage counts what the process was before it became this program: its parent.
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ModuleNotFoundError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
