"""Workers on a Ray cluster. Each has a model of its own, as a process has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ticore._support.installing import require_module

from .types import Sample, Task, Worker


def carry_out_on_ray(
    tasks: Sequence[Task], make_worker: Callable[[], Worker], processes: int
) -> Iterator[Sample]:
    """Carry out tasks on the cluster that Ray finds, or on one that it starts on this machine.

    Args:
        tasks, make_worker: see `workers.carry_out`.
        processes: how many workers.

    Raises:
        MissingExtraError: ray is not installed.
    """
    ray, util = (require_module(name, "scale", "a Ray cluster") for name in ("ray", "ray.util"))
    started = not ray.is_initialized()
    if started:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        worker = ray.remote(_RayWorker)
        pool = util.ActorPool(
            [worker.remote(make_worker) for _ in range(min(processes, len(tasks)))]
        )
        yield from pool.map_unordered(lambda actor, task: actor.call.remote(*task), tasks)
    finally:
        if started:
            ray.shutdown()


class _RayWorker:
    def __init__(self, make_worker: Callable[[], Worker]) -> None:
        self._worker = make_worker()

    def call(self, *task: Any) -> Sample:
        return self._worker(*task)
