"""The summary of samples: how often messages are misread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from benchmarks._harness.types import JsonObject, Sample
from ticore.evaluation import rate

from .plan import EXCHANGE


def robustness(samples: Iterable[Sample], noise_levels: Sequence[float]) -> list[JsonObject]:
    """How often a text is misread at each noise level, by codec, numerics and grid."""
    by_kind: dict[tuple[str, str, int], list[Sample]] = {}
    for sample in samples:
        if sample["part"] != EXCHANGE and sample["misread"] is not None:
            kind = sample["subject"], sample["part"], sample["grid_bits"]
            by_kind.setdefault(kind, []).append(sample)
    return [
        {
            "codec": codec,
            "numerics": numerics,
            "grid_bits": grid_bits,
            "text_count": len(texts),
            "misread": [
                asdict(rate(sum(noise in text["misread"] for text in texts), len(texts)))
                for noise in noise_levels
            ],
        }
        for (codec, numerics, grid_bits), texts in sorted(by_kind.items())
    ]


def exchange(samples: Iterable[Sample], models: Sequence[str]) -> list[JsonObject]:
    """How many texts of each backend each backend misreads."""
    texts = [one for one in samples if one["part"] == EXCHANGE and one["misread"] is not None]
    cells: list[JsonObject] = []
    for writer in models:
        written = [text for text in texts if text["subject"] == writer]
        cells += [
            {
                "writer": writer,
                "reader": reader,
                "text_count": len(written),
                "misread": sum(reader in text["misread"] for text in written),
            }
            for reader in models
            if written
        ]
    return cells
