"""The summary of samples: means over texts, medians of times, rates of misread texts.

Each text counts alike, however long it is. A model that repeats itself may need a thousand tokens
for one message, and a mean over all tokens would be about that text alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import product
from statistics import fmean, median

from benchmarks._harness.types import JsonObject, Sample
from ticore.evaluation import rate

from .plan import ARITHMETIC, NAIVE, STEPWISE, Method

_MEANS = ("entropy", "kl_truncation", "kl_filter", "kl_codec", "kl", "total_variation")
_TIMES = ("embed_seconds_per_token", "extract_seconds_per_token")


def summarize(
    samples: Sequence[Sample], methods: Sequence[Method], top_k: Sequence[int]
) -> JsonObject:
    """What tables and plot show.

    Args:
        samples: see `Sampler.take`.
        methods: in the order of the tables.
        top_k: numbers of candidates, in the order of the tables.

    Returns:
        `cells`: one per method and number of candidates that has samples.
        `naive`: how many times as long stepwise verification takes outside the model where it
        retokenizes the whole text; one entry per number of candidates that was measured both ways.
        `peak_memory`: in bytes, of the process that needed most; each process measures all methods.

        In a cell, `failure_count` messages could not be written, and everything else is about the
        others. `misreadings` counts misread texts by what went wrong, `misread_rate` is their
        share. Times per token are seconds: `embed_...` and `extract_...` outside the model,
        `model_...` inside it.
    """
    by_kind: dict[tuple[Method, int], list[Sample]] = {}
    for sample in samples:
        kind = (sample["codec"], sample["disambiguation"]), sample["top_k"]
        by_kind.setdefault(kind, []).append(sample)
    kinds = [kind for kind in product(methods, top_k) if kind in by_kind]
    cells = {kind: _cell(*kind, by_kind[kind]) for kind in kinds}
    naive = []
    for k in top_k:
        slow, fast = (cells.get(((ARITHMETIC, name), k), {}) for name in (NAIVE, STEPWISE))
        if slow.get(_TIMES[1]) and fast.get(_TIMES[1]):
            naive.append({"top_k": k} | {name: slow[name] / fast[name] for name in _TIMES})
    memory = [sample["peak_memory"] for sample in samples if sample.get("peak_memory")]
    return {
        "cells": list(cells.values()),
        "naive": naive,
        "peak_memory": max(memory, default=None),
    }


def comparison(cells: Sequence[JsonObject], field: str) -> dict[str, dict[int, JsonObject]]:
    """The cells of one comparison, by name and number of candidates.

    Args:
        cells: see `summarize`.
        field: what is compared. `codec`: the cells with stepwise verification, by codec.
            `disambiguation`: the cells with arithmetic coding, by disambiguation.
    """
    other, value = {
        "codec": ("disambiguation", STEPWISE),
        "disambiguation": ("codec", ARITHMETIC),
    }[field]
    found: dict[str, dict[int, JsonObject]] = {}
    for cell in cells:
        if cell[other] == value:
            found.setdefault(cell[field], {})[cell["top_k"]] = cell
    return found


def sample_count_range(cells: Sequence[JsonObject]) -> str:
    """The number of samples of each cell: `100`, or after an interrupted run `3 to 4`."""
    counts = [cell["sample_count"] for cell in cells]
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cell(method: Method, top_k: int, samples: Sequence[Sample]) -> JsonObject:
    codec, disambiguation = method
    written = [sample for sample in samples if sample["failure"] is None]
    cell: JsonObject = {
        "codec": codec,
        "disambiguation": disambiguation,
        "top_k": top_k,
        "sample_count": len(samples),
        "failure_count": len(samples) - len(written),
    }
    return cell | _measures(written) if written else cell


def _measures(samples: Sequence[Sample]) -> JsonObject:
    """The measures of samples whose message was written."""
    misreadings = Counter(one["misreading"] for one in samples if one["misreading"])
    # A reader may stop early in a text that it misreads, so the time of these says nothing.
    read = [one for one in samples if not one["misreading"]]
    return {
        "bits_per_token": fmean(one["bits"] / one["token_count"] for one in samples),
        "utilisation": fmean(one["utilisation"] for one in samples),
        **{name: fmean(one["measures"][name] for one in samples) for name in _MEANS},
        "perplexity": _perplexity(samples, "nll", "written_token_count"),
        "perplexity_read": _perplexity(samples, "nll_read", "read_token_count"),
        "misreadings": dict(misreadings),
        "misread_rate": asdict(rate(misreadings.total(), len(samples))),
        "embed_seconds_per_token": _median(
            _outside_model(one["embed_times"]) / one["written_token_count"] for one in samples
        ),
        "extract_seconds_per_token": _median(
            _outside_model(one["extract_times"]) / one["token_count"] for one in read
        ),
        "model_seconds_per_token": _median(
            one["embed_times"]["model_seconds"] / one["written_token_count"] for one in samples
        ),
        "token_count": fmean(one["token_count"] for one in samples),
    }


def _perplexity(samples: Sequence[Sample], nll: str, token_count: str) -> float | None:
    """The geometric mean over the samples whose likelihood is known."""
    known = [one[nll] / one[token_count] for one in samples if one[nll] is not None]
    return math.exp(fmean(known)) if known else None


def _outside_model(times: dict[str, float]) -> float:
    """The seconds outside the model and outside the meter that watches the writer."""
    return times["seconds"] - times["model_seconds"] - times.get("observer_seconds", 0.0)


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return median(known) if known else None
