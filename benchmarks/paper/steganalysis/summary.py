"""All detectors on all kinds of texts of one model, and the improbable tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._harness.intervals import mean
from benchmarks._harness.text_statistics import RARE

from .detectors.detector import Seen
from .trials import FEWEST, MakeDetector, Split, measured, trained

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Cell = tuple[str, int]
"""A method and its number of candidates."""

Advance = Callable[[str], None]
"""Told what has been trained."""


def accuracies(
    hiding: Mapping[Cell, Sequence[Seen]],
    covers: Sequence[Seen],
    detectors: Mapping[str, MakeDetector],
    seed: int,
    advance: Advance,
) -> JsonObject:
    """How often detectors are right, trained on all cells together and on each by itself.

    Args:
        hiding: the texts with a message of each cell.
        covers: those without.
        detectors: by name.
        seed: of splits and of training.
        advance: called after each detector is trained; see `steps`.

    Returns:
        `pooled`: one detector learns from the texts of all cells, as in the paper, and is tested
        on those of each; `alone`: one learns from each cell. Cells with few texts are left out.
    """
    splits = {cell: Split.of(texts, seed) for cell, texts in hiding.items()}
    cover, everything = Split.of(covers, seed), _together(list(splits.values()), seed)
    pooled, alone = list["JsonObject"](), list["JsonObject"]()
    if not (everything.test and cover.test):
        return {"pooled": pooled, "alone": alone}
    for name, make in detectors.items():
        detector = trained(make, everything, cover, seed)
        advance(f"{name}, all")
        for cell, split in {("all", 0): everything, **splits}.items():
            if len(split.test):
                pooled.append(_kind(name, cell) | measured(detector, split.test, cover.test))
        for cell, split in splits.items():
            if len(split.test) >= FEWEST:
                detector = trained(make, split, cover, seed)
                alone.append(_kind(name, cell) | measured(detector, split.test, cover.test))
            advance(f"{name}, {cell[0]}, k = {cell[1]}")
    return {"pooled": pooled, "alone": alone}


def steps(cells: Collection[Cell], detectors: Mapping[str, MakeDetector]) -> int:
    """How often `accuracies` calls `advance`."""
    return len(detectors) * (1 + len(cells))


def rare_tokens(
    messages: Mapping[Cell, Sequence[JsonObject]], covers: Sequence[JsonObject]
) -> list[JsonObject]:
    """The share of improbable tokens among the covers and in each cell, with intervals."""
    return [_rare({}, covers), *(_rare(_of(cell), rows) for cell, rows in messages.items())]


def by_cell(messages: Sequence[JsonObject]) -> dict[Cell, list[JsonObject]]:
    """Rows of the part `messages` that a detector can see, by their method and k."""
    cells: dict[Cell, list[JsonObject]] = {}
    for row in seen_of(messages):
        cells.setdefault((row["method"], row["k"]), []).append(row)
    return cells


def seen_of(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """The rows where there is a text, and the model's context has room for it."""
    return [row for row in rows if row["read"] and row["read"]["statistics"] is not None]


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
    shares = {}
    for bound in RARE:
        name = f"rarer_than_{bound:g}"
        share = mean([row["read"]["statistics"][name] for row in rows])
        shares[name] = None if share is None else asdict(share)
    return kind | shares
