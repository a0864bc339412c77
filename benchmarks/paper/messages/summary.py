"""The measures of one model's texts, each with its interval of 95 %."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks._harness.intervals import as_json, mean
from benchmarks.paper.published import BITS_PER_TOKEN
from ticore.evaluation import rate

from .claims import changes
from .plan import METHODS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

FEW = 20
"""A group of texts by their bits per token is shown if it has more texts than these."""

PARTS = ("truncation", "filter", "codec")
_MEASURED = ("bpt", "kld", "ppl", "ppl_written")

Groups = Mapping[int, Mapping[str, Sequence["JsonObject"]]]


def summarize(texts: Sequence[JsonObject]) -> JsonObject:
    """The measures of one model.

    Args:
        texts: see `Sampler.take`; in the order of the tables.

    Returns:
        `cells`: the measures of each method and number of candidates (`k`).
        `groups`: the same of each method's texts, whatever their k, that have from `bpt_from` to
            less than `bpt_from + 1` bits per token.
        `changes`: see `claims.changes`.

        `failure_count` texts could not be written, and everything else is about the others. `kl` is
        in bits per token, `kld` in nats per token, rates are between 0 and 1. `seconds` have no
        interval, since texts that are written side by side share them.
    """
    by_kind: dict[tuple[str, int], list[JsonObject]] = {}
    for text in texts:
        by_kind.setdefault((text["method"], text["k"]), []).append(text)
    groups = _by_bits_per_token(texts)
    return {
        "cells": [
            {"method": method, "k": k} | _measures(some) for (method, k), some in by_kind.items()
        ],
        "groups": [
            {"method": method, "bpt_from": low} | _measures(some)
            for low, by_method in groups.items()
            for method, some in by_method.items()
        ],
        "changes": changes(groups),
    }


def _by_bits_per_token(texts: Sequence[JsonObject]) -> Groups:
    """The groups of the paper's table 2, without those of few texts."""
    found: dict[int, dict[str, list[JsonObject]]] = {
        low: {method: [] for method in METHODS} for low in BITS_PER_TOKEN
    }
    for text in _written(texts):
        if (low := floor(text["bpt"])) in found:
            found[low][text["method"]].append(text)
    return {
        low: {method: some for method, some in by_method.items() if len(some) > FEW}
        for low, by_method in found.items()
    }


def _measures(texts: Sequence[JsonObject]) -> JsonObject:
    written = _written(texts)
    counts: JsonObject = {
        "text_count": len(texts),
        "failure_count": len(texts) - len(written),
    }
    if not written:
        return counts
    errors = Counter(text["error"] for text in written if text["error"])
    return counts | {
        **{name: _mean([text[name] for text in written]) for name in _MEASURED},
        "kl": {part: _mean([text["kl"][part] for text in written]) for part in PARTS},
        "misread": as_json(rate(errors.total(), len(written))),
        "errors": dict(errors),
        "seconds": fmean(text["seconds"] for text in written),
    }


def _written(texts: Sequence[JsonObject]) -> list[JsonObject]:
    return [text for text in texts if text["text"] is not None]


def _mean(values: Sequence[float | None]) -> JsonObject | None:
    """Of those that are known: not if steps are not tokens, or a text is too long for the model."""
    return as_json(mean([value for value in values if value is not None]))
