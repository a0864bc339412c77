"""Processes that write samples, each with a model of its own."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

import ticore

from .plan import Found, Plan
from .samples import Samples

_samples: Samples


def written(
    tasks: Sequence[tuple[str, int]], plan: Plan, begin: Sequence[str], processes: int
) -> Iterator[Found]:
    """A sample for each task (scheme, index), as they are finished.

    Args:
        begin: prompts.
        processes: 1 writes in this one.
    """
    if processes == 1:
        samples = Samples(ticore.load_model(plan.place), plan, begin)
        for scheme, index in tasks:
            yield samples.write(scheme, index)
        return
    pool = ProcessPoolExecutor(
        min(processes, len(tasks)),
        # Not forked: a copy of a process with threads in it may hang.
        multiprocessing.get_context("spawn"),
        _open,
        (plan, begin),
    )
    try:
        for done in as_completed([pool.submit(_write, *task) for task in tasks]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _open(plan: Plan, begin: Sequence[str]) -> None:
    """Once in each process."""
    global _samples  # noqa: PLW0603  # one model a process, opened once
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _samples = Samples(ticore.load_model(plan.place), plan, begin)


def _write(scheme: str, index: int) -> Found:
    return _samples.write(scheme, index)
