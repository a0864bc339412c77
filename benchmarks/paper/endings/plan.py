"""Which texts are written: each way to end, with messages of each size, and free texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.paper.part import groups, texts_of
from benchmarks.paper.setting import Setting

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task

PAPER = "the paper's stop"
"""Raw bits, not sealed; the text ends with them."""

AT_ONCE, SENTENCE = "none", "sentence"
"""Sealed messages, not padded; names of `finish` in `ticore.Steganographer`."""

USUAL = "sentences, padded"
"""Sealed messages as `ticore.Steganographer` writes them unless told otherwise."""

FREE = "free"
"""No message: the model ends the text, or it is cut."""

WITH_MESSAGE = (PAPER, AT_ONCE, SENTENCE, USUAL)

SIZES = (4, 8, 16, 32, 64)
"""Bytes of a message. 16 are the 128 bits of the paper's experiments."""

CANDIDATES = 64
"""The number of candidates per step (k), of all texts."""

LONGEST = 300
"""Tokens at which a free text is cut."""

KINDS = (*((ending, size) for ending in WITH_MESSAGE for size in SIZES), (FREE, 0))
"""Ending and bytes of the message, in the order of the tables."""

TASK_NAMES = ("ending", "size", "first")


def tasks(setting: Setting, samples: int) -> list[Task]:
    """A group of texts of each kind, then the next group of each."""
    return [(*kind, *group) for group in groups(setting, samples) for kind in KINDS]


def rows(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    """The texts of all groups in the order of the tables; see `texts_of`."""
    order = {kind: n for n, kind in enumerate(KINDS)}
    return sorted(texts_of(samples, count), key=lambda text: order[text["ending"], text["size"]])
