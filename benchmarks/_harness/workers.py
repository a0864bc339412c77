"""Workers that carry out tasks, each with a model of its own: processes, or a Ray cluster's."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, Literal

from ticore._support.parent_process import end_with_parent

from .progress import messages
from .ray_workers import carry_out_on_ray
from .types import Sample, Task, Worker

Engine = Literal["processes", "ray"]

_worker: Worker


def carry_out(
    tasks: Sequence[Task],
    make_worker: Callable[[], Worker],
    processes: int,
    engine: Engine = "processes",
) -> Iterator[Sample]:
    """Carry out tasks, in any order.

    Args:
        tasks: the arguments of the worker, one tuple per call.
        make_worker: called once in each process. Pickle must be able to copy it.
        processes: how many workers to start; 1 process starts none and works in this one.
        engine: what they are. A Ray cluster is the one that Ray finds, or a new one here.

    Returns:
        The samples, each as soon as it is finished. After Ctrl-C, the tasks that processes have
        begun are finished first, so that nothing is lost.
    """
    if engine == "ray":
        yield from carry_out_on_ray(tasks, make_worker, processes)
        return
    if processes == 1:
        worker = make_worker()
        for task in tasks:
            yield worker(*task)
        return
    pool = ProcessPoolExecutor(
        min(processes, len(tasks)),
        # Not "fork": a forked copy of a process that has threads may hang.
        multiprocessing.get_context("spawn"),
        _start,
        (make_worker,),
    )
    unseen = {pool.submit(_call, *task) for task in tasks}
    try:
        for done in as_completed(unseen.copy()):
            unseen.remove(done)
            yield done.result()
    except KeyboardInterrupt:
        messages.print("interrupted; what has been begun is finished")
        pool.shutdown(cancel_futures=True)
        for done in unseen:
            if not done.cancelled():
                yield done.result()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start(make_worker: Callable[[], Worker]) -> None:
    """Prepare a new process."""
    global _worker  # noqa: PLW0603  # a pool passes nothing to its calls but their arguments
    # Ctrl-C reaches every process of a terminal. The first process ends the others in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _worker = make_worker()


def _call(*task: Any) -> Sample:
    return _worker(*task)
