"""Detection in processes of their own: a bounded number, and another one where one dies.

A detector computes for milliseconds without a pause. In the process that answers requests it would
hold up all of them.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from ..._support.interrupts import postponed_interrupts
from ..._support.parent_process import end_with_parent
from ...errors import CapacityError, TicoreError
from ..refusals import UNAVAILABLE, RefusedError
from .answers import answer
from .detectors import Detectors, DetectorSettings
from .query import Query

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
        self._at_work = 0
        self._pool = self._started()

    def close(self) -> None:
        """End the processes, also in the midst of a text, which may take long; nobody waits for it.

        The end of Python would wait for them. It also wakes the pool without a lock, and writes an
        error if the pool closes meanwhile.
        """
        for process in list(self._pool._processes.values()):  # `kill_workers` of Python 3.14
            process.kill()
        self._pool.shutdown(cancel_futures=True)

    async def answers(self, query: Query) -> list[dict[str, Any]]:
        """The answer about each item of a query.

        Raises:
            RefusedError: too many requests wait, or this one took too long.
        """
        if self._at_work >= MOST_WAITING:
            raise RefusedError(
                UNAVAILABLE,
                f"expected at most {MOST_WAITING} requests at a time, found that many already; "
                f"try again later",
            )
        self._at_work += 1
        try:
            async with asyncio.timeout(self._seconds):
                return await self._asked(query)
        except TimeoutError:
            raise RefusedError(
                UNAVAILABLE,
                f"expected an answer within {self._seconds:g} seconds, found that it takes longer; "
                f"send fewer texts at a time, or try again later",
            ) from None
        finally:
            self._at_work -= 1

    async def _asked(self, query: Query) -> list[dict[str, Any]]:
        loop, until = asyncio.get_running_loop(), time.monotonic() + self._seconds
        for _ in range(_TRIES):
            pool = self._pool
            try:
                return await loop.run_in_executor(pool, _answers, query, until)
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
            initializer=_open,
            initargs=(self._settings,),
        )
        with postponed_interrupts():
            for _ in range(self._count):
                pool.submit(_nothing)  # each starts another one
        return pool


def _nothing() -> None:
    """Work for a process that is only to be started."""


_TOO_LONG = CapacityError(
    "expected a text that there is memory for, found a longer one; send it in parts"
)
_opened: Detectors | None = None  # of this process


def _open(settings: DetectorSettings) -> None:
    global _opened  # noqa: PLW0603  # a process of the pool is told once what it looks for
    end_with_parent()  # it holds keys
    _opened = settings.open()


def _answers(query: Query, until: float) -> list[dict[str, Any]]:
    """The answer about each item. Raises TimeoutError once nobody waits for it any more.

    Args:
        query: what to look at.
        until: when that is, by the clock `time.monotonic`, which all processes share.
    """
    assert _opened is not None
    detector, found = _opened.named(query.configuration, query.tokenizations), []
    for item in query.items:
        if time.monotonic() > until:
            raise TimeoutError
        try:
            detection = (
                detector.detect(item) if isinstance(item, str) else detector.detect_ids(item)
            )
            found.append(answer(detection))
        except TicoreError as error:
            found.append(answer(error))
        except MemoryError:
            found.append(answer(_TOO_LONG))
    return found
