"""Work for several threads at once, with switches between them wherever Python allows one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar

T = TypeVar("T")

THREADS = 8


@contextmanager
def frequent_switches() -> Iterator[None]:
    """Inside, Python switches threads a thousand times as often, so that races show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(before / 1000)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def run_together(work: Callable[[int], T]) -> list[T]:
    """The results of `work(0)`, `work(1)`, ... of threads that begin at the same time."""
    barrier = Barrier(THREADS)

    def begin(number: int) -> T:
        barrier.wait()
        return work(number)

    with frequent_switches(), ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(begin, range(THREADS)))
