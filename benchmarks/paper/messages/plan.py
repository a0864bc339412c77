"""Which texts are written: each method with each number of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.paper.part import groups, texts_of
from benchmarks.paper.setting import Setting

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task

NONE, STEPWISE = "none", "stepwise"
RIVALS = ("basic", "mwis", "syncpool")
"""What the paper compares stepwise verification with."""

OF_THE_PAPER = (NONE, *RIVALS, STEPWISE)

VIABLE, LOOKAHEAD, SEARCH = "stepwise, viable", "lookahead", "search"

METHODS = (*OF_THE_PAPER, VIABLE, LOOKAHEAD, SEARCH)
"""Names of methods, in the order of the tables: disambiguations, with a mode that is not the
paper's. The last three are later than the paper."""

CANDIDATES = tuple(2**n for n in range(2, 13))
"""The paper's numbers of candidates per step (k)."""

BITS = 128
"""Of a message."""

CHECKSUM = 24
"""How many of these are a checksum with `search`: its reader knows the right tokens by it."""

TASK_NAMES = ("method", "k", "first")


def tasks(setting: Setting, samples: int) -> list[Task]:
    """A group of texts for each method and number of candidates, then the next group of each.

    So a run that ends early has about as many texts of each kind.
    """
    return [
        (method, k, *group)
        for group in groups(setting, samples)
        for k in setting.candidates or CANDIDATES
        for method in setting.methods or METHODS
    ]


def rows(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    """The texts of all groups in the order of the tables; see `texts_of`."""
    order = {method: n for n, method in enumerate(METHODS)}
    return sorted(texts_of(samples, count), key=lambda text: (order[text["method"]], text["k"]))
