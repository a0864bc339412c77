"""Whether the processes still answer. Busy ones answer late, but they do."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from threading import RLock
from typing import Any


class Pulse:
    """For how long processes have been asked, and have answered nothing.

    Args:
        clock: seconds that go on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = RLock()  # answers come in a thread of the pool, perhaps while one is asked for
        self._asked = set[Future[Any]]()
        self._since: float | None = None  # nothing is owed

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked at the moment."""
        return not self._asked

    @property
    def silence(self) -> float:
        """Seconds since the last answer, or since the first question after it."""
        return 0.0 if self._since is None else self._clock() - self._since

    def follow(self, question: Future[Any]) -> None:
        """Wait for an answer."""
        with self._lock:
            if self._since is None:
                self._since = self._clock()
            self._asked.add(question)
            question.add_done_callback(self._ended)

    def _ended(self, question: Future[Any]) -> None:
        with self._lock:
            self._asked.discard(question)
            if not (question.cancelled() or isinstance(question.exception(), BrokenProcessPool)):
                self._since = self._clock() if self._asked else None
