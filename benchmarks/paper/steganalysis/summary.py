"""What all detectors found on all kinds of texts of one model, and the improbable tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks._harness.intervals import mean
from benchmarks._harness.text_statistics import RARE
from ticore.evaluation import Rate, rate

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample

Cell = tuple[str, int]
"""A method and its number of candidates."""

ALL: Cell = ("all", 0)
"""Stands for all cells."""


def accuracies(samples: Sequence[Sample]) -> JsonObject:
    """How often detectors are right, by the texts that they learned from.

    Args:
        samples: see `training.Trainer.train`.

    Returns:
        `pooled`: one detector learns from the texts of all cells, as in the paper, and is tested
        on those of each; `alone`: one learns from each cell.
    """
    found = dict[str, list["JsonObject"]](pooled=[], alone=[])
    for sample in samples:
        learned = "pooled" if (sample["method"], sample["k"]) == ALL else "alone"
        found[learned] += [{"detector": sample["detector"]} | each for each in sample["tested"]]
    return found


def rare_tokens(
    messages: Mapping[Cell, Sequence[JsonObject]], covers: Sequence[JsonObject]
) -> list[JsonObject]:
    """The share of improbable tokens among the covers and in each cell, with intervals."""
    return [
        _rare({}, covers),
        *(_rare({"method": cell[0], "k": cell[1]}, rows) for cell, rows in messages.items()),
    ]


def by_cell(messages: Sequence[JsonObject]) -> dict[Cell, list[JsonObject]]:
    """Rows of the part `messages` that a detector can see, by their method and k."""
    cells: dict[Cell, list[JsonObject]] = {}
    for row in seen_of(messages):
        cells.setdefault((row["method"], row["k"]), []).append(row)
    return cells


def seen_of(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """The rows where there is a text, and the model's context has room for it."""
    return [row for row in rows if row["read"] and row["read"]["statistics"] is not None]


def _rare(kind: JsonObject, rows: Sequence[JsonObject]) -> JsonObject:
    shares = {}
    for bound in RARE:
        name = f"rarer_than_{bound:g}"
        share = mean([row["read"]["statistics"][name] for row in rows])
        shares[name] = None if share is None else asdict(_wide_enough(share, name, rows))
    return kind | shares


def _wide_enough(share: Rate, name: str, rows: Sequence[JsonObject]) -> Rate:
    """With an interval that holds that of independent tokens.

    Texts that are drawn again from a few improbable tokens vary too little, and from none not at
    all.
    """
    read = [row["read"]["statistics"] for row in rows]
    tokens = sum(int(each["tokens"]) for each in read)
    exact = rate(round(sum(each[name] * each["tokens"] for each in read)), tokens)
    return Rate(share.value, min(share.low, exact.low), max(share.high, exact.high))
