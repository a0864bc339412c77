"""What each method carries, changes and costs, over its samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import log2

import numpy as np
from rich.table import Table

from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject, Sample
from ticore.evaluation import rate

from .plan import METHODS

_NUMBERS = {
    "texts": ("texts", "{:,}"),
    "misread_count": ("misread", "{:,}"),
    "given_up": ("given up", "{:.1%}"),
    "bits_per_token": ("bits per token", "{:.2f}"),
    "tokens_per_text": ("tokens per text", "{:.0f}"),
    "divergence_per_token": ("divergence, bits per token", "{:.4f}"),
    "divergence_per_text": ("per text", "{:.2f}"),
    "writer_passes": ("passes per token, writer", "{:.2f}"),
    "reader_passes": ("reader", "{:.2f}"),
    "embed_ms_per_token": ("ms per token, writer", "{:.2f}"),
    "extract_ms_per_token": ("reader", "{:.2f}"),
}


def summarize(samples: Sequence[Sample]) -> list[JsonObject]:
    """One row for each model, kind of text and method that has samples."""
    rows = []
    for model, kind in dict.fromkeys((sample["model"], sample["kind"]) for sample in samples):
        for method in METHODS:
            task = {"model": model, "kind": kind, "method": method}
            some = [sample for sample in samples if task.items() <= sample.items()]
            if some:
                rows.append(task | _of_one(some))
    return rows


def _of_one(samples: Sequence[Sample]) -> JsonObject:
    """The measures of one method; of the texts that were sent, if any.

    Passes and seconds are medians of those of texts, by their tokens. Texts that were given up have
    the share f of all that were written, which costs -log2(1 - f) bits of each text's divergence.
    Of those whose tokens break a character no method could send one.
    """
    sent = [sample for sample in samples if sample["failure"] is None]
    row: JsonObject = {"texts": len(sent), "failed_count": len(samples) - len(sent)}
    if not sent:
        return row
    tokens = np.array([sample["token_count"] for sample in sent], float)
    dropped = np.array([sample["kl_filter"] for sample in sent]) * tokens
    reasons = Counter(reason for sample in sent for reason in sample["given_up"])
    written = len(sent) + reasons.total()
    given_up = rate(reasons.total(), written)
    rejected = -log2(1 - given_up.value)
    misread = sum(not sample["recovered"] for sample in sent)

    def median(name: str, by_token: bool = False) -> float:
        values = np.array([sample[name] for sample in sent])
        return float(np.median(1e3 * values / tokens if by_token else values))

    return row | {
        "misread_count": misread,
        "misread_rate": asdict(rate(misread, len(sent))),
        "written_texts": written,
        "reasons": dict(reasons),
        "given_up": given_up.value,
        "given_up_rate": asdict(given_up),
        "bits_per_token": sum(sample["bits"] for sample in sent) / float(tokens.sum()),
        "tokens_per_text": float(tokens.mean()),
        "divergence_per_token": (float(dropped.sum()) + rejected * len(sent)) / float(tokens.sum()),
        "divergence_per_text": float(dropped.mean()) + rejected,
        "divergence_by_dropping": float(dropped.mean()),
        "divergence_by_giving_up": rejected,
        "divergence_by_giving_up_at_most": -log2(1 - given_up.high),
        "writer_passes": median("writer_passes"),
        "reader_passes": median("reader_passes"),
        "embed_ms_per_token": median("embed_seconds", by_token=True),
        "extract_ms_per_token": median("extract_seconds", by_token=True),
    }


def table(rows: Sequence[JsonObject]) -> Iterator[Table]:
    """The one table of a report."""
    found = text_table(
        "Methods, with messages of the same bytes",
        ["model", "text", "method"],
        [heading for heading, _ in _NUMBERS.values()],
    )
    above = ("", "")
    for row in rows:
        cells = (
            show.format(row[name]) if name in row else "" for name, (_, show) in _NUMBERS.items()
        )
        names = row["model"], row["kind"]
        left = ("", "") if names == above else names
        found.add_row(without_repeats(left[0], above[0]), left[1], row["method"], *cells)
        above = names
    yield found
