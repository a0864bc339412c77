"""From samples to figures: means, shares, and how well texts are told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from benchmarks.workers import Found

from .plan import FPR, ROLLBACK, UNMARKED

_RESAMPLED = 1000
_LEVEL = 0.95

Floats = npt.NDArray[np.float64]


def figures(rows: Sequence[Found], schemes: Sequence[str]) -> Found:
    """All that tables and figure show.

    Args:
        rows: samples, see `Samples.write`.
        schemes: their names, in order.

    Returns:
        `written`, a row for each scheme and arm that has samples, where `strength_lost` is by how
        much the tokens that were written scored higher than those read back; `unmarked`, what
        schemes see in texts without a watermark, by arm; `attacked`, a row for each scheme, arm and
        attack; `overhead`, a row for each scheme; `overhead_of_all`, over the texts of all schemes.
    """
    by_scheme: dict[str, list[Found]] = {name: [] for name in (*schemes, UNMARKED)}
    for row in sorted(rows, key=lambda row: row["index"]):
        if row["scheme"] in by_scheme:
            by_scheme[row["scheme"]].append(row["arms"])
    arms = list(dict.fromkeys(arm for row in rows for arm in row["arms"]))
    found: Found = {"written": [], "unmarked": [], "attacked": [], "overhead": []}
    for scheme, samples in by_scheme.items():
        if not samples:
            continue
        for arm in arms:
            texts = [sample[arm] for sample in samples]
            plain = [sample[arm] for sample in by_scheme[UNMARKED]]
            cell = {"scheme": scheme, "arm": arm}
            if scheme == UNMARKED:
                found["written"].append(cell | _written(texts))
                for name in schemes:
                    looked = _looked([text["scores"][name] for text in texts])
                    found["unmarked"].append({"scheme": name, "arm": arm} | looked)
                continue
            null = _strengths([text["scores"][scheme] for text in plain])
            seen = [text["scores"][scheme] for text in texts]
            whole = _strengths([text["scores_of_written"][scheme] for text in texts])
            lost = {"strength_lost": float((whole - _strengths(seen)).mean())}
            found["written"].append(cell | _written(texts) | _looked(seen, null) | lost)
            for attack in texts[0]["attacks"]:
                after = [text["attacks"][attack] for text in texts]
                changed = float(np.mean([one["changed"] for one in after]))
                row = cell | {"attack": attack, "changed": changed}
                found["attacked"].append(row | _looked(after, null))
        found["overhead"].append({"scheme": scheme} | _overhead(samples))
    marked = [sample for name in schemes for sample in by_scheme[name]]
    found["overhead_of_all"] = _overhead(marked)
    found["unmarked"].sort(key=lambda row: schemes.index(row["scheme"]))
    return found


def _written(texts: Sequence[Found]) -> Found:
    count = len(texts)
    rest = [_per_token(text["seconds"] - text["model_seconds"], text) for text in texts]
    return {
        "texts": count,
        "tokens": float(np.mean([text["tokens"] for text in texts])),
        "ended": sum(text["end"] == "end of text" for text in texts) / count,
        "perplexity": _perplexity(texts, "nll", "tokens"),
        "perplexity_read": _perplexity(texts, "nll_read", "tokens_read"),
        "rollbacks": sum(text["rollbacks"] for text in texts) / count,
        "temporary": sum(text["temporary"] for text in texts) / count,
        "inconsistent": sum(not text["consistent"] for text in texts) / count,
        "seconds_a_token": _median([_per_token(text["seconds"], text) for text in texts]),
        "seconds_outside_the_model": _median(rest),
    }


def _perplexity(texts: Sequence[Found], nll: str, tokens: str) -> float | None:
    """Over all tokens of all texts."""
    known = [text for text in texts if text[nll] is not None]
    count = sum(text[tokens] for text in known)
    return math.exp(sum(text[nll] for text in known) / count) if count else None


def _looked(scores: Sequence[Found], null: Floats | None = None) -> Found:
    """Strength and detection; told apart from unwatermarked texts of strengths `null`."""
    strengths = _strengths(scores)
    found: Found = {
        "strength": float(strengths.mean()),
        "strength_sd": float(strengths.std(ddof=1)) if len(strengths) > 1 else None,
        "detected": sum(score["p_value"] < FPR for score in scores) / len(scores),
    }
    if null is not None and len(null):
        found["auroc"] = auroc(strengths, null)
        found["auroc_interval"] = interval(strengths, null)
    return found


def _overhead(samples: Sequence[Found]) -> Found:
    """Seconds a token with rollback, over those without: the median of samples, and the mean.

    One interruption of the machine may move the mean by more than rollback takes. Intervals are
    where 95 % of them lie if samples are drawn anew from themselves. `in_vain` is what a median
    does not see: passes for tokens that were taken back, a text.
    """
    ratios, in_vain = [], []
    for sample in samples:
        without = [text for arm, text in sample.items() if arm != ROLLBACK]
        if ROLLBACK in sample and without:
            with_it = sample[ROLLBACK]
            plain = float(np.mean([_per_token(text["seconds"], text) for text in without]))
            ratios.append(_per_token(with_it["seconds"], with_it) / plain)
            in_vain.append(_unwritten(with_it) - np.mean([_unwritten(text) for text in without]))
    if not ratios:
        return {"ratio": None}
    rng = np.random.default_rng(2026)
    drawn = rng.choice(ratios, (_RESAMPLED, len(ratios)))
    return {
        "ratio": _median(ratios),
        "interval": _middle(np.median(drawn, axis=1).tolist()),
        "mean": float(np.mean(ratios)),
        "mean_interval": _middle(drawn.mean(axis=1).tolist()),
        "in_vain": float(np.mean(in_vain)),
    }


def _unwritten(text: Found) -> int:
    """How many more tokens the model read than were written: -1 where it need not read the last."""
    return int(text["forwards"]) - int(text["tokens"])


def auroc(positives: Floats, negatives: Floats) -> float:
    """The probability that a positive exceeds a negative; where they are equal, half.

    >>> auroc(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    ranks = stats.rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    least = len(positives) * (len(positives) + 1) / 2
    return float((ranks.sum() - least) / (len(positives) * len(negatives)))


def interval(positives: Floats, negatives: Floats) -> list[float]:
    """Where 95 % of the areas lie if both kinds of texts are drawn anew from themselves.

    Of texts that are told apart without exception this says [1, 1], which is not to be trusted: it
    knows only the texts that it was given.
    """
    rng = np.random.default_rng(2026)
    areas = [
        auroc(rng.choice(positives, len(positives)), rng.choice(negatives, len(negatives)))
        for _ in range(_RESAMPLED)
    ]
    return _middle(areas)


def _middle(values: Sequence[float]) -> list[float]:
    """Where 95 % of them lie."""
    low, high = np.quantile(values, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return [float(low), float(high)]


def _strengths(scores: Sequence[Found]) -> Floats:
    return np.array([score["strength"] for score in scores], dtype=np.float64)


def _per_token(seconds: float, text: Found) -> float:
    return seconds / max(1, int(text["tokens"]))


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
