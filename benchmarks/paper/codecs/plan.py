"""Which texts are written: each codec, and arithmetic coding with fewer weight bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.paper.part import groups, texts_of
from benchmarks.paper.setting import Setting

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task

FULL_PRECISION = 32
ALL = None
"""As a number of candidates: the whole vocabulary, where improbable tokens are."""

KINDS: tuple[tuple[str, int | None, int], ...] = (
    *((codec, ALL, FULL_PRECISION) for codec in ("arithmetic", "discop", "huffman", "meteor")),
    *((codec, ALL, FULL_PRECISION) for codec in ("sparsamp", "sparsamp:32")),
    *(("arithmetic", ALL, bits) for bits in (28, 24, 20)),
    *(("arithmetic", 64, bits) for bits in (FULL_PRECISION, 16, 8)),
)
"""Codec, number of candidates (k) and weight bits, in the order of the table.

20 bits are the fewest that have room for a vocabulary of 262,144 tokens.
"""

BITS = 512
"""Of a message: texts of about a hundred tokens."""

TASK_NAMES = ("codec", "k", "weight_bits", "first")


def tasks(setting: Setting, samples: int) -> list[Task]:
    """A group of texts of each kind, then the next group of each."""
    return [(*kind, *group) for group in groups(setting, samples) for kind in KINDS]


def rows(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    """The texts of all groups in the order of the table; see `texts_of`."""
    order = {kind: n for n, kind in enumerate(KINDS)}
    return sorted(texts_of(samples, count), key=lambda text: order[kind_of(text)])


def kind_of(text: JsonObject) -> tuple[str, int | None, int]:
    """Its codec, number of candidates and weight bits."""
    return text["codec"], text["k"], text["weight_bits"]
