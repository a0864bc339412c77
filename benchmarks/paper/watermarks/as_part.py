"""Watermarks as a part of the experiments."""

from __future__ import annotations

from benchmarks.paper.part import Part

from .samples import make_worker, rows, tasks
from .section import section
from .summary import summarize

PART = Part(
    name="watermarks",
    full_samples=500,
    task_names=("scheme", "arm", "first"),
    tasks=tasks,
    make_worker=make_worker,
    rows=rows,
    summarize=summarize,
    section=section,
)
