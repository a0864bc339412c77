"""The detectors at hand, and the analysis with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._harness.progress import messages as console
from benchmarks.paper.analysis import AnalysisOptions, Collection
from ticore._support.installing import require_module

from .detectors.model_statistics import Boosting
from .summary import Cell, accuracies, by_cell, rare_tokens, seen_of
from .texts import KIND_NAMES, make_cutter, seen_in, whole
from .training import TASK_NAMES, Texts, make_worker, tasks
from .trials import MakeDetector

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

WHOLE, BEGINNINGS = "whole", "beginnings"
LENGTH_ALONE = "length alone"
COVERS: Cell = ("covers", 0)

SEEN_BY = {LENGTH_ALONE: (WHOLE,)}
"""What a detector sees of texts, where it does not see both: beginnings are of one length."""


def run(
    rows: Mapping[str, Sequence[JsonObject]], options: AnalysisOptions, collection: Collection
) -> JsonObject:
    """The accuracies of all detectors at hand, and the improbable tokens.

    Args:
        rows: of the parts `messages` and `covers`.
        options: the seed is that of splits and of training.
        collection: keeps what was trained.

    Returns:
        `cover_count`; `short_count`, how many texts are too short to have a beginning; `whole` and
        `beginnings`: see `summary.accuracies`, of texts as they are and of their first tokens
        alone; `rare`: see `summary.rare_tokens`.

    Raises:
        MissingExtraError: scikit-learn or torch is not installed.
    """
    detectors = at_hand(options.encoder)
    cells, covers = by_cell(rows["messages"]), seen_of(rows["covers"])
    begun, short_count = _beginnings(cells, covers, options, collection)
    everything = {cell: list(map(whole, texts)) for cell, texts in cells.items()}
    seen = {WHOLE: Texts(everything, list(map(whole, covers))), BEGINNINGS: begun}
    samples = collection.samples(
        "trainings",
        tasks(seen, {name: SEEN_BY.get(name, tuple(seen)) for name in detectors}, options.seed),
        TASK_NAMES,
        partial(make_worker, seen, detectors, options.seed),
    )
    found = {part: accuracies([each for each in samples if each["seen"] == part]) for part in seen}
    return {
        "cover_count": len(covers),
        "short_count": short_count,
        "rare": rare_tokens(cells, covers),
    } | found


def _beginnings(
    cells: Mapping[Cell, Sequence[JsonObject]],
    covers: Sequence[JsonObject],
    options: AnalysisOptions,
    collection: Collection,
) -> tuple[Texts, int]:
    """The beginnings of texts with a message and of covers, and how many texts have none.

    Kinds that an interrupted run has not come to are in neither.
    """
    kinds = {COVERS: covers, **cells}
    cut = partial(make_cutter, options.model, kinds)
    samples = collection.samples("beginnings", list(kinds), KIND_NAMES, cut)
    begun = {(each["method"], each["k"]): seen_in(each) for each in samples if each["texts"]}
    short = sum(len(kinds[each["method"], each["k"]]) - len(each["texts"]) for each in samples)
    of_covers = begun.pop(COVERS, [])
    return Texts(begun, of_covers), short


def at_hand(encoder: Path | None) -> dict[str, MakeDetector]:
    """Detectors by name."""
    for package, extra in (("torch", "torch"), ("sklearn", "benchmarks")):
        require_module(package, extra, "steganalysis")
    from .detectors.networks import (  # noqa: PLC0415  # torch is an extra
        LsCnn,
        NetworkDetector,
        RBiLstmC,
        SmallTransformer,
    )
    from .detectors.sentence_model import FineTuned  # noqa: PLC0415  # torch is an extra

    found: dict[str, MakeDetector] = {
        LENGTH_ALONE: partial(Boosting, ["tokens"]),
        "the model itself": Boosting,
        "LS-CNN": partial(NetworkDetector, LsCnn),
        "R-BiLSTM-C": partial(NetworkDetector, RBiLstmC),
    }
    if encoder is None:
        console.print("no --encoder: a small transformer stands in for it")
        found["small transformer"] = partial(NetworkDetector, SmallTransformer)
    else:
        found[encoder.name] = partial(FineTuned, encoder)
    return found
