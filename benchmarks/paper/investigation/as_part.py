"""The investigation as a part of the experiments."""

from __future__ import annotations

from benchmarks.paper.part import Part, groups, texts_of

from .samples import make_worker
from .section import section
from .summary import summarize

PART = Part(
    name="investigation",
    full_samples=1000,
    task_names=("first",),
    tasks=groups,
    make_worker=make_worker,
    rows=texts_of,
    summarize=summarize,
    section=section,
)
