"""Samples summed up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from benchmarks.workers import Found
from ticore.evaluation import rate

from .plan import EXCHANGE


def robustness(rows: Iterable[Found], noises: Sequence[float]) -> list[Found]:
    """For each codec, kind of numerics and grid how often a text is misread at each noise."""
    kinds: dict[tuple[str, str, int], list[Found]] = {}
    for row in rows:
        if row["part"] != EXCHANGE and row["misread"] is not None:
            kinds.setdefault((row["what"], row["part"], row["grid_bits"]), []).append(row)
    return [
        {
            "codec": codec,
            "numerics": numerics,
            "grid_bits": grid,
            "texts": len(texts),
            "misread": [
                asdict(rate(sum(noise in text["misread"] for text in texts), len(texts)))
                for noise in noises
            ],
        }
        for (codec, numerics, grid), texts in sorted(kinds.items())
    ]


def exchange(rows: Iterable[Found], places: Sequence[str]) -> list[Found]:
    """For each ordered pair of backends how many texts of the one the other misread."""
    texts = [row for row in rows if row["part"] == EXCHANGE and row["misread"] is not None]
    found = []
    for writer in places:
        own = [text for text in texts if text["what"] == writer]
        found += [
            {
                "writer": writer,
                "reader": reader,
                "texts": len(own),
                "misread": sum(reader in text["misread"] for text in own),
            }
            for reader in places
            if own
        ]
    return found
