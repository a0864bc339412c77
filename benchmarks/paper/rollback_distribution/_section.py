"""What the page shows of the toys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks._harness.progress import track
from benchmarks.paper.sections import PageTable, Section

from ._measures import measure, summarize

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

SEEDS = range(5)
_SHOWN_PERIODS = (0, 1, 2, 5, 10, 20)
_NAMES = {
    "none": "no rollback",
    "algorithm 4": "Algorithm 4 of the paper, T steps",
    "algorithm 4 to T tokens": "Algorithm 4 of the paper, T tokens",
    "frontier rollback": 'ours, rollback="windowed"',
    "frontier rollback without bans": "ours, without bans",
    "masking": "masking (stepwise verification)",
    "rejected windows": "windows that are drawn again",
    "whole-text rejection": 'ours, rollback="exact"',
}


def compute() -> list[JsonObject]:
    """All algorithms on the toys of `SEEDS`: the rows of `summarize` as JSON."""
    rows = [row for seed in track(SEEDS, "toys", len(SEEDS)) for row in measure(seed)]
    return [asdict(row) for row in summarize(rows)]


def section(summary: Sequence[JsonObject]) -> Section:
    """Distances and costs, for each kind of inconsistency."""
    kinds = list(dict.fromkeys(row["kind"] for row in summary))
    return Section(
        "How far rollback moves the distribution of texts",
        [
            "On models so small that all of their texts can be listed, the probability of each "
            "text is computed, not sampled. The target is the model conditioned on consistent "
            "texts, and Z is their share of the model's texts. Passes are forward passes per "
            "token, as a multiple of those without rollback. The published pseudocode of Algorithm "
            "4 leaves open what its length counts, so there are two readings of it.",
            *(_table(kind, [row for row in summary if row["kind"] == kind]) for kind in kinds),
        ],
    )


def _table(kind: str, rows: Sequence[JsonObject]) -> PageTable:
    shown = [
        row
        for row in rows
        if row["algorithm"] != "frontier rollback" or row["setting"] in _SHOWN_PERIODS
    ]
    toys = rows[0]["toys"]
    return PageTable(
        f"{kind.capitalize()} inconsistencies: means over {toys} toys (lowest to highest)",
        ["algorithm", "q or window", "distance / (1 - Z)", "bits", "inconsistent, %", "passes"],
        [_cells(row) for row in shown],
    )


def _cells(row: JsonObject) -> list[str]:
    distances, costs = row["tv_per_inconsistent_range"], row["cost_range"]
    return [
        _NAMES[row["algorithm"]],
        "" if row["setting"] is None else str(row["setting"]),
        f"{row['tv_per_inconsistent']:.2f} ({distances[0]:.2f} to {distances[1]:.2f})",
        "infinite" if row["kl_bits"] is None else f"{row['kl_bits']:.3f}",
        f"{100 * row['inconsistent']:.1f}",
        f"{row['cost']:.2f} ({costs[0]:.2f} to {costs[1]:.2f})",
    ]
