"""Processes that write samples, each with a model of its own."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

Task = tuple[Any, ...]
Found = dict[str, Any]
"""What goes into JSON: dictionaries, lists, numbers and texts."""

Write = Callable[..., Found]

_write: Write


def written(tasks: Sequence[Task], open_: Callable[[], Write], processes: int) -> Iterator[Found]:
    """A sample for each task, as they are finished.

    Args:
        tasks: each the arguments of one call of what `open_` gives.
        open_: is called once in each process; it can be pickled.
        processes: 1 writes in this one.
    """
    if processes == 1:
        write = open_()
        for task in tasks:
            yield write(*task)
        return
    pool = ProcessPoolExecutor(
        min(processes, len(tasks)),
        # Not forked: a copy of a process with threads in it may hang.
        multiprocessing.get_context("spawn"),
        _open,
        (open_,),
    )
    try:
        for done in as_completed([pool.submit(_carry_out, *task) for task in tasks]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _open(open_: Callable[[], Write]) -> None:
    """Once in each process."""
    global _write  # noqa: PLW0603  # one model a process, opened once
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _write = open_()


def _carry_out(*task: Any) -> Found:
    return _write(*task)
