"""The processes that detect: a bounded number, and another one where one dies."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from ..._support.interrupts import postponed_interrupts
from ..refusals import RefusedError
from . import worker
from .detectors import DetectorSettings
from .pulse import Pulse

MOST_WAITING = 256  # requests
_TRIES = 3
_SECONDS_LATE = 900.0  # the text at which the time ends goes on: 4 MiB, 1,000 keys take minutes


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
        self._pulse = Pulse()
        self._pool = self._started()

    def close(self) -> None:
        """End the processes, also in the midst of a text, which may take long."""
        _end(self._pool)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among the requests that wait. Take it before the body of one is read.

        Raises:
            RefusedError: too many wait.
        """
        if self._waiting >= MOST_WAITING:
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE,
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
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"expected an answer within {self._seconds:g} seconds, found that it takes longer; "
                f"send fewer texts at a time, or try again later",
            ) from None

    def require_life(self) -> None:
        """Ask the processes for a sign of life, which the next call looks at.

        Raises:
            RefusedError: they have answered nothing for longer than a request may take.
        """
        pool = self._pool
        if self._pulse.is_idle:
            try:
                self._pulse.follow(pool.submit(worker.nothing))
            except BrokenProcessPool:
                self._replace(pool)
        if (silence := self._pulse.silence) > self._seconds + _SECONDS_LATE:
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"expected processes that answer, found none that has for {silence:.0f} seconds; "
                f"start the service again",
            )

    async def _asked(self, body: bytes, until: float) -> tuple[int, bytes]:
        for _ in range(_TRIES):
            pool = self._pool
            try:
                question = pool.submit(worker.answered, body, until)
                self._pulse.follow(question)
                return await asyncio.wrap_future(question)
            except BrokenProcessPool:
                self._replace(pool)
        raise RefusedError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "expected a process that looks at the text, found that it ends each time",
        )

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        if broken is self._pool:  # the first that notices starts another
            self._pool = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # Not forked: threads of the server may hold locks.
        pool = ProcessPoolExecutor(
            self._count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=worker.start,
            initargs=(self._settings,),
        )
        try:
            for _ in range(self._count):
                with postponed_interrupts():  # for the start of one process, not of all
                    self._pulse.follow(pool.submit(worker.nothing))  # each starts another one
        except BrokenProcessPool:  # one has ended already: the next request starts another pool
            pass
        except BaseException:
            _end(pool)
            raise
        return pool


def _end(processes: ProcessPoolExecutor) -> None:
    """End the processes of a pool. Nobody waits for what they do.

    The end of Python would wait for them. It also wakes the pool without a lock, and writes an
    error if the pool closes meanwhile.
    """
    pool: Any = processes
    for process in list(pool._processes.values()):  # `kill_workers` of Python 3.14
        process.kill()
    # What is being sent to them would wait for ever in Python 3.11.2 (CPython's gh-94777).
    pool._call_queue._reader.close()
    pool.shutdown(cancel_futures=True)
