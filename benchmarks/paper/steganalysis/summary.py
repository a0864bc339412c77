"""All detectors on all kinds of texts of one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.intervals import mean
from benchmarks.paper.statistics import RARE

from .detectors.detector import Seen
from .trials import FEWEST, MakeDetector, Split, measured, trained

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Cell = tuple[str, int]
"""A method and its number of candidates."""

Advance = Callable[[str], None]
"""Told what has been trained."""


def summarize(
    messages: Sequence[JsonObject],
    covers: Sequence[JsonObject],
    detectors: Mapping[str, MakeDetector],
    seed: int,
    advance: Advance,
) -> JsonObject:
    """Accuracies, pooled as in the paper and for each cell by itself, and the rare tokens.

    Pooled: one detector learns from the texts of all cells, and is tested on those of each.

    Args:
        messages: rows of the part `messages`, with `method` and `k`.
        covers: rows of the part `covers`.
        detectors: by name.
        seed: of splits and of training.
        advance: called after each detector is trained.
    """
    cells = _cells(messages)
    splits = {cell: Split.of([_seen(row) for row in rows], seed) for cell, rows in cells.items()}
    cover = Split.of([_seen(row) for row in covers if _is_seen(row)], seed)
    everything = _together(list(splits.values()), seed)
    found: JsonObject = {"cover_count": len(covers), "pooled": [], "alone": [], "rare": []}
    for name, make in detectors.items():
        detector = trained(make, everything, cover, seed)
        advance(f"{name}, all")
        for cell, split in {("all", 0): everything, **splits}.items():
            if len(split.test):
                found["pooled"].append(
                    _kind(name, cell) | measured(detector, split.test, cover.test)
                )
        for cell, split in splits.items():
            if len(split.test) >= FEWEST:
                detector = trained(make, split, cover, seed)
                found["alone"].append(
                    _kind(name, cell) | measured(detector, split.test, cover.test)
                )
            advance(f"{name}, {cell[0]}, k = {cell[1]}")
    found["rare"] = [_rare({}, covers), *(_rare(_of(cell), rows) for cell, rows in cells.items())]
    return found


def steps(messages: Sequence[JsonObject], detectors: Mapping[str, MakeDetector]) -> int:
    """How often `summarize` calls `advance`."""
    return len(detectors) * (1 + len(_cells(messages)))


def _cells(messages: Sequence[JsonObject]) -> dict[Cell, list[JsonObject]]:
    cells: dict[Cell, list[JsonObject]] = {}
    for row in messages:
        if _is_seen(row):
            cells.setdefault((row["method"], row["k"]), []).append(row)
    return cells


def _is_seen(row: JsonObject) -> bool:
    """Whether there is a text, and the model's context has room for it."""
    return row["read"] is not None and row["read"]["statistics"] is not None


def _seen(row: JsonObject) -> Seen:
    read = row["read"]
    return Seen(read["text"], read["ids"], read["statistics"])


def _together(splits: Sequence[Split], seed: int) -> Split:
    """All texts, mixed: only a part of them is used where covers are few."""
    rng = np.random.default_rng(seed)
    train, test = (
        [text for split in splits for text in getattr(split, part)] for part in ("train", "test")
    )
    rng.shuffle(train)
    rng.shuffle(test)
    return Split(train, test)


def _kind(detector: str, cell: Cell) -> JsonObject:
    return {"detector": detector} | _of(cell)


def _of(cell: Cell) -> JsonObject:
    return {"method": cell[0], "k": cell[1]}


def _rare(kind: JsonObject, rows: Sequence[JsonObject]) -> JsonObject:
    """The share of improbable tokens, with intervals over texts."""
    found = [row["read"]["statistics"] for row in rows if _is_seen(row)]
    shares = {}
    for bound in RARE:
        name = f"rarer_than_{bound:g}"
        share = mean([each[name] for each in found])
        shares[name] = None if share is None else asdict(share)
    return kind | shares
