"""What runs workers: a function from a task and batches to their results, in the batches' order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .base import Text
from .processes import processes
from .ray_cluster import ray_cluster
from .results import Result
from .scoring import Task

Engine = Callable[[Task, Iterable[Sequence[Text]], int | None], Iterator[list[Result]]]
"""`f(task, batches, workers)`; without a number of workers, as many as there are cores.

Batches are taken only as they are needed. To stop it, close the iterator.
"""

ENGINES: dict[str, Engine] = {"processes": processes, "ray": ray_cluster}
