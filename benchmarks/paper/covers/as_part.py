"""Covers as a part of the experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.paper.messages import plan
from benchmarks.paper.part import Part, groups, texts_of
from benchmarks.paper.setting import Setting

from .samples import make_worker

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task


def _count(samples: int) -> int:
    """As many covers as the paper has texts of one method: one for each text of each number of
    candidates, also where messages are hidden with a few of these numbers alone."""
    return samples * len(plan.CANDIDATES)


def _tasks(setting: Setting, samples: int) -> list[Task]:
    return groups(setting, _count(samples))


def _rows(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    return texts_of(samples, _count(count))


PART = Part(
    name="covers",
    full_samples=500,
    task_names=("first",),
    tasks=_tasks,
    make_worker=make_worker,
    rows=_rows,
)
