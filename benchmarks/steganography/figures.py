"""From samples to figures: means over texts, medians of times, shares of errors.

Each text counts alike, however long it is. A model that repeats itself may need a thousand tokens
for one message, and the mean over all tokens would be about that text alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import product
from statistics import fmean, median

from benchmarks.workers import Found
from ticore.evaluation.metrics import rate

from .plan import ARITHMETIC, NAIVE, STEPWISE, Method

_MEANS = ("entropy", "kl_truncation", "kl_filter", "kl_codec", "kl", "total_variation")


def figures(rows: Sequence[Found], methods: Sequence[Method], top_k: Sequence[int]) -> Found:
    """All that tables and picture show.

    Args:
        rows: samples, see `Samples.write`.
        methods: codecs and disambiguations, in order.
        top_k: how many candidates there were, in order.

    Returns:
        `cells`, a row for each method and number of candidates that has samples; `naive`, a row for
        each number of candidates where both are there: how many times as long stepwise verification
        takes, outside the model, if it retokenises the whole text; `peak_memory`, in bytes, of the
        process that held the most: each writes by all methods.

        In a cell, `failed` samples took up no message, and all else is about the others. `wrong`
        counts misread texts by how they are misread, `errors` is their share. `writing` and
        `reading` are the seconds that a token takes outside the model, `model` those that it takes
        inside; `tokens` are a text's.
    """
    samples: dict[tuple[Method, int], list[Found]] = {}
    for row in rows:
        kind = (row["codec"], row["disambiguation"]), row["top_k"]
        samples.setdefault(kind, []).append(row)
    kinds = [kind for kind in product(methods, top_k) if kind in samples]
    cells = {kind: _cell(*kind, samples[kind]) for kind in kinds}
    naive = []
    for k in top_k:
        slow, fast = (cells.get(((ARITHMETIC, name), k), {}) for name in (NAIVE, STEPWISE))
        if slow.get("reading") and fast.get("reading"):
            ratios = {part: slow[part] / fast[part] for part in ("writing", "reading")}
            naive.append({"top_k": k} | ratios)
    memory = [row["peak_memory"] for row in rows if row.get("peak_memory")]
    return {
        "cells": list(cells.values()),
        "naive": naive,
        "peak_memory": max(memory, default=None),
    }


def compared(cells: Sequence[Found], what: str) -> dict[str, dict[int, Found]]:
    """Cells that differ in `what`, a codec or a disambiguation, by its name and top_k.

    What goes with a disambiguation is arithmetic coding, and stepwise verification with a codec.
    """
    beside = {"codec": ("disambiguation", STEPWISE), "disambiguation": ("codec", ARITHMETIC)}
    field, usual = beside[what]
    found: dict[str, dict[int, Found]] = {}
    for cell in cells:
        if cell[field] == usual:
            found.setdefault(cell[what], {})[cell["top_k"]] = cell
    return found


def how_many(cells: Sequence[Found]) -> str:
    """Texts of each cell: `100`, or of a run that was interrupted `3 to 4`."""
    counts = [cell["samples"] for cell in cells]
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _cell(method: Method, top_k: int, samples: Sequence[Found]) -> Found:
    codec, disambiguation = method
    texts = [row for row in samples if row["failed"] is None]
    cell: Found = {
        "codec": codec,
        "disambiguation": disambiguation,
        "top_k": top_k,
        "samples": len(samples),
        "failed": len(samples) - len(texts),
    }
    return cell | _of_texts(texts) if texts else cell


def _of_texts(texts: Sequence[Found]) -> Found:
    wrong = Counter(text["wrong"] for text in texts if text["wrong"])
    # A text that is misread may not be read to its end.
    right = [text for text in texts if not text["wrong"]]
    return {
        "bits_per_token": fmean(text["bits"] / text["tokens"] for text in texts),
        "utilisation": fmean(text["utilisation"] for text in texts),
        **{name: fmean(text["measures"][name] for text in texts) for name in _MEANS},
        "perplexity": _perplexity(texts, "nll", "tokens_written"),
        "perplexity_read": _perplexity(texts, "nll_read", "tokens_read"),
        "wrong": dict(wrong),
        "errors": asdict(rate(wrong.total(), len(texts))),
        "writing": _median(_outside(t["writing"]) / t["tokens_written"] for t in texts),
        "reading": _median(_outside(t["reading"]) / t["tokens"] for t in right),
        "model": _median(t["writing"]["model_seconds"] / t["tokens_written"] for t in texts),
        "tokens": fmean(text["tokens"] for text in texts),
    }


def _perplexity(texts: Sequence[Found], nll: str, tokens: str) -> float | None:
    """The geometric mean over the texts for which it is known."""
    known = [text[nll] / text[tokens] for text in texts if text[nll] is not None]
    return math.exp(fmean(known)) if known else None


def _outside(times: dict[str, float]) -> float:
    """Seconds outside the model, and outside what observes here."""
    return times["seconds"] - times["model_seconds"] - times.get("observer_seconds", 0.0)


def _median(values: Iterable[float]) -> float | None:
    known = list(values)
    return median(known) if known else None
