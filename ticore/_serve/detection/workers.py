"""The processes that detect: a bounded number, and another one where one dies."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..._support.interrupts import postponed_interrupts
from ..refusals import UNAVAILABLE, RefusedError
from . import worker
from .detectors import DetectorSettings

MOST_WAITING = 256  # requests
_TRIES = 3


class Workers:
    """Processes that detect. Close it in the end.

    Args:
        settings: what they look for.
        count: how many processes.
        seconds: how long a request may take.
    """

    def __init__(self, settings: DetectorSettings, count: int, seconds: float) -> None:
        self._settings = settings
        self._count = count
        self._seconds = seconds
        self._waiting = 0
        self._pool = self._started()

    def close(self) -> None:
        """End the processes, also in the midst of a text, which may take long; nobody waits for it.

        The end of Python would wait for them. It also wakes the pool without a lock, and writes an
        error if the pool closes meanwhile.
        """
        for process in list(self._pool._processes.values()):  # `kill_workers` of Python 3.14
            process.kill()
        self._pool.shutdown(cancel_futures=True)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among the requests that wait. Take it before the body of one is read.

        Raises:
            RefusedError: too many wait.
        """
        if self._waiting >= MOST_WAITING:
            raise RefusedError(
                UNAVAILABLE,
                f"expected at most {MOST_WAITING} requests at a time, found that many already; "
                f"try again later",
            )
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def answered(self, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer to a request.

        Args:
            body: of the request, which has a place.

        Raises:
            RefusedError: it took too long.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._asked(body, time.monotonic() + self._seconds)
        except TimeoutError:
            raise RefusedError(
                UNAVAILABLE,
                f"expected an answer within {self._seconds:g} seconds, found that it takes longer; "
                f"send fewer texts at a time, or try again later",
            ) from None

    async def _asked(self, body: bytes, until: float) -> tuple[int, bytes]:
        loop = asyncio.get_running_loop()
        for _ in range(_TRIES):
            pool = self._pool
            try:
                return await loop.run_in_executor(pool, worker.answered, body, until)
            except BrokenProcessPool:
                if pool is self._pool:  # the first request that notices starts another
                    self._pool = self._started()
        raise RefusedError(
            UNAVAILABLE, "expected a process that looks at the text, found that it ends each time"
        )

    def _started(self) -> ProcessPoolExecutor:
        # Not forked: threads of the server may hold locks.
        pool = ProcessPoolExecutor(
            self._count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=worker.start,
            initargs=(self._settings,),
        )
        with postponed_interrupts():
            for _ in range(self._count):
                pool.submit(worker.nothing)  # each starts another one
        return pool
