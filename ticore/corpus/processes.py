"""Workers that are processes on this machine."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection

from ..errors import TicoreError
from ..watermarking import WatermarkDetector
from .base import Text
from .results import Result
from .scoring import Task, score

_AHEAD = 3  # batches that a worker has before it, so that it never waits


def processes(
    task: Task, batches: Iterable[Sequence[Text]], workers: int | None = None
) -> Iterator[list[Result]]:
    """The results of each batch; see `Engine`. Few batches, or one worker, take no process."""
    workers = cores() if workers is None else workers
    batches = iter(batches)
    first = list(islice(batches, 2))
    if workers == 1 or len(first) < 2:
        detector = task.open() if first else None
        for batch in chain(first, batches):
            assert detector is not None
            yield score(detector, batch)
        return
    yield from _pooled(task, chain(first, batches), workers)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pooled(task: Task, batches: Iterator[Sequence[Text]], workers: int) -> Iterator[list[Result]]:
    context = get_context("spawn")  # the same everywhere, and safe where there are threads
    listening, lifeline = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _start, (task, listening))
    waiting: deque[Future[list[Result]]] = deque()
    try:
        for batch in batches:
            with _deaf_to_interrupts(not waiting):
                waiting.append(pool.submit(_score, batch))
            if len(waiting) >= _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        pool.shutdown()
    except BrokenProcessPool:
        raise TicoreError(
            "a worker process ended before its work did; was there too little memory? Run the "
            "same command again to go on, with fewer workers or smaller batches"
        ) from None
    finally:
        # Workers finish the batch they are at. Ended amid it, while more is being sent to them,
        # they would leave the pool waiting forever (CPython's gh-94777; not mended in 3.11.2).
        pool.shutdown(cancel_futures=True)
        lifeline.close()
        listening.close()


@contextmanager
def _deaf_to_interrupts(starting: bool) -> Iterator[None]:
    """While processes are started: they inherit it, and Ctrl-C reaches all that a terminal runs.

    A worker would print where it was interrupted; it is to end when this process says so.
    """
    if not starting or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_task: Task | None = None


def _start(task: Task, lifeline: Connection) -> None:
    global _task  # noqa: PLW0603  # a worker's only state, set once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    _task = task


def _end_with(lifeline: Connection) -> None:
    """End at once when the other side is closed: by hand, or since its process is no more."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _score(texts: Sequence[Text]) -> list[Result]:
    return score(_opened(), texts)


@cache
def _opened() -> WatermarkDetector:
    """Opened for the first batch: from there an error finds its way to whoever waits."""
    assert _task is not None
    return _task.open()
