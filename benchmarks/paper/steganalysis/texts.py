"""Texts as detectors see them: as they are, or no more than their beginnings.

Where a text ends tells of its message. A text with 128 bits ends as soon as it carries them, so
its tokens have about 128 bits of information together, and covers have any number. No method to
choose a token can change that. The first tokens of a text show what the choice itself gives away,
as long as (nearly) all texts have them: those that carry 128 bits in less are the improbable ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from benchmarks._harness.text_statistics import statistics
from benchmarks.paper.covers.samples import SHORTEST
from benchmarks.paper.stand_ins import StandIn
from ticore.interfaces import LanguageModel

from .detectors.detector import Seen
from .summary import Cell

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker

BEGINNING = SHORTEST
"""Tokens: as many as all covers have. A message in fewer would have 13 bits and more in each."""

KIND_NAMES = ("method", "k")
"""Of a task of `beginnings`."""


def whole(row: JsonObject) -> Seen:
    """The text of a row, of `messages` or `covers`, as its receiver reads it."""
    read = row["read"]
    return Seen(row["index"], read["text"], read["ids"], read["statistics"])


def beginning(model: LanguageModel, row: JsonObject) -> Seen | None:
    """The first tokens of the text of a row, or None if it has fewer.

    Args:
        model: that wrote it.
        row: whose text fits into the model's context.
    """
    read = row["read"]
    ids = read["ids"][:BEGINNING]
    if len(ids) < BEGINNING:
        return None
    everything = model.tokenizer.encode(row["text"])
    before = everything[: len(everything) - len(read["ids"])]
    numbers = statistics(model, before, ids)
    assert numbers is not None  # the whole text fits
    text = model.tokenizer.decode(everything[: len(before) + BEGINNING])
    return Seen(row["index"], text.removeprefix(row["prompt"]), ids, numbers)


def make_cutter(model: StandIn, kinds: Mapping[Cell, Sequence[JsonObject]]) -> Worker:
    """The worker that cuts the texts of one of these kinds: `beginnings` with their model."""
    return partial(beginnings, model.open(), kinds)


def beginnings(
    model: LanguageModel, kinds: Mapping[Cell, Sequence[JsonObject]], method: str, k: int
) -> Sample:
    """The first tokens of the texts of a kind: `texts` are those that have as many."""
    found = [beginning(model, row) for row in kinds[method, k]]
    texts = [asdict(seen) for seen in found if seen is not None]
    return {"method": method, "k": k, "texts": texts}


def seen_in(sample: Sample) -> list[Seen]:
    """The texts of a sample of `beginnings`."""
    return [Seen(**text) for text in sample["texts"]]
