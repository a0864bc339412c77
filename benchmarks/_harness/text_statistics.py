"""What the generating model itself says of a text: the strongest detector of hidden messages.

A text that the model sampled freely has a log probability per token that is, on average, minus the
entropy of the model's distribution. Truncated, filtered or coded texts differ from that, and take
tokens of other ranks and probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ticore._support.common_beginning import common_length
from ticore.interfaces import LanguageModel

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

RANKS = (1, 4, 16, 64, 256, 1024)
RARE = (1e-2, 1e-3, 1e-4, 1e-5)
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75)


def statistics(
    model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]
) -> JsonObject | None:
    """Numbers about the tokens of a text, all at temperature 1.

    Args:
        model: that may have written it.
        prompt_ids: what the text continues.
        ids: its tokens, as they are read; at least one.

    Returns:
        `tokens`, their number; `nll`, the mean negative log-likelihood in nats (its exp is the
        perplexity); means, deviations and quantiles of log probabilities, of the entropy in nats
        and of `excess`, their sum; the shares of tokens of a rank above each of `RANKS`, and of a
        probability below each of `RARE`. None if the model's context is too short.
    """
    logits = _scored(model, [*prompt_ids, *ids])
    return None if logits is None else of_logits(logits[len(prompt_ids) :], list(ids))


def _scored(model: LanguageModel, ids: list[int]) -> npt.NDArray[np.float64] | None:
    """Logits float64[len(ids), n] before each token; None if the model's context is too short."""
    if len(ids) > model.context_length:
        return None
    return np.asarray(model.score(ids), dtype=np.float64)


def of_logits(logits: npt.NDArray[np.float64], ids: list[int]) -> JsonObject:
    """The numbers of `statistics`.

    Args:
        logits: float64[len(ids), n]; row i predicts ids[i].
        ids: the tokens.
    """
    return _numbers(_of_each(logits, ids))


class _EachToken(NamedTuple):
    """What a model says of n tokens.

    Attributes:
        log_p: float64[n], the logarithms of their probabilities, in nats.
        entropy: float64[n], of the distributions that they were chosen from, in nats.
        rank: int64[n]; tokens that are as likely count as less likely: the best token has rank 1.
    """

    log_p: npt.NDArray[np.float64]
    entropy: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int64]

    def after(self, count: int) -> _EachToken:
        """The tokens after the first `count`."""
        return _EachToken(self.log_p[count:], self.entropy[count:], self.rank[count:])


def _of_each(logits: npt.NDArray[np.float64], ids: list[int]) -> _EachToken:
    logits = logits - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(logits)
    sums = exponentials.sum(axis=1)
    rows = np.arange(len(ids))
    chosen = logits[rows, ids]
    log_p = chosen - np.log(sums)
    with np.errstate(invalid="ignore"):
        products = np.where(exponentials > 0, exponentials * logits, 0.0)
    entropy = np.log(sums) - products.sum(axis=1) / sums
    return _EachToken(log_p, entropy, 1 + (logits > chosen[:, None]).sum(axis=1))


def _numbers(each: _EachToken) -> JsonObject:
    log_p, entropy, rank = each
    excess = log_p + entropy
    found: JsonObject = {"tokens": len(log_p), "nll": float(-log_p.mean())}
    for name, values in (("log_p", log_p), ("entropy", entropy), ("excess", excess)):
        found |= {f"{name}_mean": float(values.mean()), f"{name}_sd": float(values.std())}
    found["log_rank_mean"] = float(np.log2(rank).mean())
    found |= {
        f"log_p_{round(100 * q)}": float(value)
        for q, value in zip(_QUANTILES, np.quantile(log_p, _QUANTILES), strict=True)
    }
    found |= {f"rank_above_{bound}": float((rank > bound).mean()) for bound in RANKS}
    found |= {f"rarer_than_{bound:g}": float((log_p < np.log(bound)).mean()) for bound in RARE}
    return found


def read_back(model: LanguageModel, prompt: str, text: str) -> JsonObject:
    """A text as its receiver, or an observer, sees it.

    Args:
        model: whose tokenizer reads it.
        prompt: what the text continues.
        text: the whole text, which begins with the prompt.

    Returns:
        `text`, without the prompt; `ids`, its tokens; `statistics` of them; `ppl`, the perplexity
        of the whole text. The last two are None if the model's context is too short.
    """
    prompt_ids, ids = model.tokenizer.encode(prompt), model.tokenizer.encode(text)
    # The first token that is read may span the end of the prompt and the start of the text.
    shared = common_length(prompt_ids, ids)
    logits = _scored(model, ids)
    found: JsonObject = {"text": text.removeprefix(prompt), "ids": ids[shared:]}
    if logits is None:
        return found | {"statistics": None, "ppl": None}
    each = _of_each(logits, ids)
    statistics = _numbers(each.after(shared)) if shared < len(ids) else None
    return found | {"statistics": statistics, "ppl": math.exp(-each.log_p.mean())}
