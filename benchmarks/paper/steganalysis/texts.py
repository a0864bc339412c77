"""Texts as detectors see them: as they are, or no more than their beginnings.

Where a text ends tells of its message. A text with 128 bits ends as soon as it carries them, so
its tokens have about 128 bits of information together, and covers have any number. No method to
choose a token can change that. The first tokens of a text show what the choice itself gives away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks._harness.text_statistics import statistics
from ticore.interfaces import LanguageModel

from .detectors.detector import Seen

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

BEGINNING = 16
"""Tokens: as many as nearly all texts have, also those whose tokens carry many bits."""


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
