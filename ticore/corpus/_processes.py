"""An executor whose workers are processes on this machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import chain, islice
from multiprocessing import current_process, get_context
from multiprocessing.connection import Connection
from typing import Any

from .._support.interrupts import postponed_interrupts
from ..errors import TicoreError
from ._base import CorpusText, WorkerTask

_AHEAD = 3  # batches that are queued per worker, so that none waits
_MOST_ON_WINDOWS = 61  # processes that concurrent.futures can wait for
_GUARD = '`if __name__ == "__main__":`'


def processes(
    task: WorkerTask,
    batches: Iterable[Sequence[CorpusText]],
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,  # there is nothing to say
) -> Generator[list[Any], None, None]:
    """The results of each batch; see `Executor`. Works in any thread.

    One worker, or a single batch, is scored in this process.

    Raises:
        TicoreError: a worker ended before its work did, or as `WorkerTask.open`.
    """
    workers = cores() if workers is None else workers
    if sys.platform == "win32":
        workers = min(workers, _MOST_ON_WINDOWS)
    batches = iter(batches)
    first = list(islice(batches, 2))
    if workers == 1 or len(first) < 2:
        opened = task.open() if first else None
        for batch in chain(first, batches):
            yield task.score(opened, batch)
        return
    yield from _pooled(task, chain(first, batches), workers)


def require_main_guard() -> None:
    """Refuse a scan in a worker that is about to start.

    A worker first runs the script that started it, as a module. If that calls a scan again, its
    errors blame a second scan, or too little memory.

    Raises:
        TicoreError: this process is such a worker.
    """
    # As multiprocessing itself finds out; it has no public name for it.
    if getattr(current_process(), "_inheriting", False):
        raise TicoreError(
            f"expected the scan to be called under {_GUARD}, found that each worker runs this "
            f"script from its beginning; put the call under it"
        )


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pooled(
    task: WorkerTask, batches: Iterator[Sequence[CorpusText]], workers: int
) -> Generator[list[Any], None, None]:
    context = get_context("spawn")  # the same on all systems, and safe with threads
    listening, lifeline = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _start, (task, listening))
    waiting: deque[Future[list[Any]]] = deque()
    some_are_done = False
    try:
        for batch in batches:
            # Any submit may start a process, and not only the first one.
            with postponed_interrupts():
                waiting.append(pool.submit(_score, batch))
            if len(waiting) >= _AHEAD * workers:
                results = waiting.popleft().result()
                some_are_done = True
                yield results
        while waiting:
            results = waiting.popleft().result()
            some_are_done = True
            yield results
        pool.shutdown()
    except BrokenProcessPool:
        hint = "" if some_are_done else f". In a script, call the scan under {_GUARD}"
        raise TicoreError(
            f"a worker process ended before its work did; was there too little memory? Run the "
            f"same command again to go on, with fewer workers or smaller batches{hint}"
        ) from None
    finally:
        # Workers finish their current batch. If they were ended during it, while more is sent to
        # them, the pool would wait forever (CPython's gh-94777; not fixed in 3.11.2).
        pool.shutdown(cancel_futures=True)
        lifeline.close()
        listening.close()


_task: WorkerTask | None = None


def _start(task: WorkerTask, lifeline: Connection) -> None:
    global _task  # noqa: PLW0603  # a worker's only state, set once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    _task = task


def _end_with(lifeline: Connection) -> None:
    """End this worker at once when the main process closes the other side, or has ended."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _score(texts: Sequence[CorpusText]) -> list[Any]:
    assert _task is not None
    return _task.score(_opened(), texts)


@cache
def _opened() -> Any:
    """Opened with the first batch, so that an error becomes the result of that batch."""
    assert _task is not None
    return _task.open()
