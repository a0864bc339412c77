"""Executors: functions that let workers score batches, and give the results in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

from ._base import CorpusText, WorkerTask
from ._processes import processes
from ._ray_cluster import ray_cluster

Executor = Callable[
    [WorkerTask, Iterable[Sequence[CorpusText]], int | None, Callable[[str], None]],
    Generator[list[Any], None, None],
]
"""`f(task, batches, workers, tell)` gives the results of each batch, in the order of the batches.

`workers` is their number; None means one per core. `tell` is called with what
a person should know of the workers. Batches are taken only when workers need them.
Closing the iterator stops the workers.
"""

EXECUTORS: dict[str, Executor] = {"processes": processes, "ray": ray_cluster}
