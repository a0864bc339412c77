"""Clocks, paired timing, and summaries of many timings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

TimingSummary = dict[str, float]
"""`count`, `low`, `median`, `mean`, `p95` and `high` of some timings, in seconds."""


def timed(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[float, T]:
    """The seconds that a call of `work` takes, and its result."""
    started = time.perf_counter()
    result = work(*args, **kwargs)
    return time.perf_counter() - started, result


def time_in_turns(
    works: Sequence[Callable[[], object]],
    rounds: int,
    *,
    clock: Callable[[], float] = time.perf_counter,
    warm_up: bool = True,
) -> list[list[float]]:
    """Time several works in turns, so that what else the machine does affects all of them alike.

    Args:
        works: called in order, once per round.
        rounds: how often each one is timed.
        clock: gives seconds; `time.process_time` counts CPU time alone.
        warm_up: whether to call each one once before, without timing it.

    Returns:
        The seconds of each work, one number per round.
    """
    seconds: list[list[float]] = [[] for _ in works]
    for work in works if warm_up else ():
        work()
    for _ in range(rounds):
        for times, work in zip(seconds, works, strict=True):
            started = clock()
            work()
            times.append(clock() - started)
    return seconds


def summarize_timings(seconds: Sequence[float]) -> TimingSummary:
    """The summary of at least one timing."""
    low, median, p95, high = np.quantile(seconds, [0, 0.5, 0.95, 1]).tolist()
    return {
        "count": len(seconds),
        "low": low,
        "median": median,
        "mean": float(np.mean(seconds)),
        "p95": p95,
        "high": high,
    }
