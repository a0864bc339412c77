"""Codecs and precisions as a part of the experiments."""

from __future__ import annotations

from benchmarks.paper.part import Part

from .plan import TASK_NAMES, rows, tasks
from .samples import make_worker
from .section import section
from .summary import summarize

PART = Part(
    name="codecs",
    full_samples=500,
    task_names=TASK_NAMES,
    tasks=tasks,
    make_worker=make_worker,
    rows=rows,
    summarize=summarize,
    section=section,
)
