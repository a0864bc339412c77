"""The summary of samples: means, rates, and how well watermarked texts are told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks._harness.auroc import RESAMPLINGS, auroc, auroc_interval
from benchmarks._harness.types import JsonObject, Sample

from .plan import FALSE_POSITIVE_RATE, ROLLBACK, UNMARKED

_LEVEL = 0.95

Floats = npt.NDArray[np.float64]


def summarize(samples: Sequence[Sample], schemes: Sequence[str]) -> JsonObject:
    """What tables and plot show.

    Args:
        samples: see `TextSampler.take`.
        schemes: their names, in the order of the tables.

    Returns:
        `written`: one entry per scheme and arm that has samples. `strength_lost` is how much
        stronger the watermark is in the tokens that were written than in those read back.
        `unmarked`: what each scheme finds in texts without a watermark, by arm.
        `attacked`: one entry per scheme, arm and attack.
        `overhead`: what rollback costs, one entry per scheme.
        `overhead_of_all`: the same over the texts of all schemes.
    """
    by_scheme: dict[str, list[JsonObject]] = {name: [] for name in (*schemes, UNMARKED)}
    for sample in sorted(samples, key=lambda sample: sample["index"]):
        if sample["scheme"] in by_scheme:
            by_scheme[sample["scheme"]].append(sample["arms"])
    arms = list(dict.fromkeys(arm for sample in samples for arm in sample["arms"]))
    summary: JsonObject = {"written": [], "unmarked": [], "attacked": [], "overhead": []}
    for scheme, by_arm in by_scheme.items():
        if not by_arm:
            continue
        for arm in arms:
            texts = [texts[arm] for texts in by_arm]
            unmarked = [texts[arm] for texts in by_scheme[UNMARKED]]
            if scheme == UNMARKED:
                _add_unmarked(summary, arm, texts, schemes)
            else:
                _add_marked(summary, scheme, arm, texts, unmarked)
        summary["overhead"].append({"scheme": scheme} | rollback_overhead(by_arm))
    marked = [texts for name in schemes for texts in by_scheme[name]]
    summary["overhead_of_all"] = rollback_overhead(marked)
    summary["unmarked"].sort(key=lambda entry: schemes.index(entry["scheme"]))
    return summary


def _add_unmarked(
    summary: JsonObject, arm: str, texts: Sequence[JsonObject], schemes: Sequence[str]
) -> None:
    """Add one arm of the model without a watermark."""
    summary["written"].append({"scheme": UNMARKED, "arm": arm} | _writing(texts))
    for name in schemes:
        found = _detection([text["detections"][name] for text in texts])
        summary["unmarked"].append({"scheme": name, "arm": arm} | found)


def _add_marked(
    summary: JsonObject,
    scheme: str,
    arm: str,
    texts: Sequence[JsonObject],
    unmarked: Sequence[JsonObject],
) -> None:
    """Add one arm of a scheme, with and without attacks."""
    kind = {"scheme": scheme, "arm": arm}
    null = _strengths([text["detections"][scheme] for text in unmarked])
    read = [text["detections"][scheme] for text in texts]
    written = [text["detections_of_written"][scheme] for text in texts]
    lost = float((_strengths(written) - _strengths(read)).mean())
    summary["written"].append(
        kind | _writing(texts) | _detection(read, null) | {"strength_lost": lost}
    )
    for attack in texts[0]["attacks"]:
        after = [text["attacks"][attack] for text in texts]
        changed = float(np.mean([one["changed"] for one in after]))
        entry = kind | {"attack": attack, "changed": changed}
        summary["attacked"].append(entry | _detection(after, null))


def _writing(texts: Sequence[JsonObject]) -> JsonObject:
    """Length, quality and cost of the texts of one arm."""
    count = len(texts)
    outside = [_per_token(text["seconds"] - text["model_seconds"], text) for text in texts]
    return {
        "text_count": count,
        "token_count": float(np.mean([text["token_count"] for text in texts])),
        "ended": sum(text["end"] == "end of text" for text in texts) / count,
        "perplexity": _perplexity(texts, "nll", "token_count"),
        "perplexity_read": _perplexity(texts, "nll_read", "read_token_count"),
        "rollbacks": sum(text["rollbacks"] for text in texts) / count,
        "temporary": sum(text["temporary"] for text in texts) / count,
        "inconsistent": sum(not text["consistent"] for text in texts) / count,
        "seconds_per_token": _median([_per_token(text["seconds"], text) for text in texts]),
        "seconds_per_token_outside_model": _median(outside),
    }


def _perplexity(texts: Sequence[JsonObject], nll: str, token_count: str) -> float | None:
    """Over all tokens of all texts whose likelihood is known."""
    known = [text for text in texts if text[nll] is not None]
    count = sum(text[token_count] for text in known)
    return math.exp(sum(text[nll] for text in known) / count) if count else None


def _detection(detections: Sequence[JsonObject], null: Floats | None = None) -> JsonObject:
    """Strength, detection rate, and how well the texts are told apart from unmarked ones.

    Args:
        detections: of the texts.
        null: the strengths that are found in texts without a watermark.
    """
    strengths = _strengths(detections)
    detected = sum(one["p_value"] < FALSE_POSITIVE_RATE for one in detections)
    found: JsonObject = {
        "strength": float(strengths.mean()),
        "strength_sd": float(strengths.std(ddof=1)) if len(strengths) > 1 else None,
        "detected": detected / len(detections),
    }
    if null is not None and len(null):
        found["auroc"] = auroc(strengths, null)
        found["auroc_interval"] = auroc_interval(strengths, null)
    return found


def rollback_overhead(samples: Sequence[JsonObject]) -> JsonObject:
    """The time per token with rollback, divided by the time without.

    Args:
        samples: for each sample its texts by arm.

    Returns:
        `ratio` is the median over samples, `mean` the mean: one interruption of the machine may
        change the mean by more than rollback takes. Intervals are 95 % bootstrap intervals.
        `discarded_passes`: forward passes per text for tokens that were taken back, which a median
        does not show.
    """
    ratios, discarded = [], []
    for texts in samples:
        others = [text for arm, text in texts.items() if arm != ROLLBACK]
        if ROLLBACK in texts and others:
            text = texts[ROLLBACK]
            usual = float(np.mean([_per_token(other["seconds"], other) for other in others]))
            ratios.append(_per_token(text["seconds"], text) / usual)
            discarded.append(_extra_passes(text) - np.mean([_extra_passes(o) for o in others]))
    if not ratios:
        return {"ratio": None}
    rng = np.random.default_rng(2026)
    resampled = rng.choice(ratios, (RESAMPLINGS, len(ratios)))
    return {
        "ratio": _median(ratios),
        "interval": _interval(np.median(resampled, axis=1).tolist()),
        "mean": float(np.mean(ratios)),
        "mean_interval": _interval(resampled.mean(axis=1).tolist()),
        "discarded_passes": float(np.mean(discarded)),
    }


def _extra_passes(text: JsonObject) -> int:
    """Forward passes besides one per token; -1 where the model need not read the last token."""
    return int(text["forwards"]) - int(text["token_count"])


def _interval(values: Sequence[float]) -> list[float]:
    """The bounds of the middle 95 %."""
    low, high = np.quantile(values, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return [float(low), float(high)]


def _strengths(detections: Sequence[JsonObject]) -> Floats:
    return np.array([one["strength"] for one in detections], dtype=np.float64)


def _per_token(seconds: float, text: JsonObject) -> float:
    return seconds / max(1, int(text["token_count"]))


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))
