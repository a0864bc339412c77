"""Covers as a part of the experiments."""

from __future__ import annotations

from benchmarks.paper.part import Part, groups, texts_of

from .samples import make_worker

PART = Part(
    name="covers",
    full_samples=5500,
    task_names=("first",),
    tasks=groups,
    make_worker=make_worker,
    rows=texts_of,
)
