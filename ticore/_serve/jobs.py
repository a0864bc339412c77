"""Work in threads: at most some at once, ended when it takes too long or nobody waits for it.

    job = jobs.begin(work)          a thread works
    async for event in job.events():  {"progress": …} as often as the reader keeps up, and last
                                    {"result": …} or {"error": …}
    job.stop()                      the next report of progress ends the work

A thread cannot be ended from outside. So work is stopped where it asks its watch: after each token
that is written or read, and between the configurations that a detection looks for. Its place among
the jobs is free when its thread ends and not before.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

from ..errors import TicoreError
from .failures import failure
from .refusals import RefusedError

_LOG = logging.getLogger("ticore.serve")
_SECONDS_TO_STOP = 2.0  # a step takes milliseconds with most models

UNEXPECTED = (
    "the program met an error that it does not know; what you asked for was not done; please "
    "report the line that it wrote on its terminal"
)

Event = dict[str, Any]
"""What a job says, as JSON can hold it."""


class StoppedError(Exception):
    """The work was stopped: nobody waits for it."""


class Watch:
    """How work reports, and learns that it is to stop. Used by the thread that works.

    Args:
        tell: takes the progress so far.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._stopped = threading.Event()
        self._state: Event = {}
        self._steps = deque[object]()  # not yet taken; used by two threads

    def stop(self) -> None:
        """End the work at its next report."""
        self._stopped.set()

    def require_wanted(self) -> None:
        """Raises StoppedError if the work is to stop."""
        if self._stopped.is_set():
            raise StoppedError

    def progress(self, done: int, total: int) -> None:
        """A `Progress`. Raises StoppedError."""
        self._report(done=done, total=total)

    def text(self, text: str) -> None:
        """A `Follower`. Raises StoppedError."""
        self._report(text=text)

    def step(self, step: object) -> None:
        """Report a step. Unlike other progress, each one is told. Raises StoppedError."""
        self._steps.append(step)
        self._report()

    def take_steps(self) -> Event:
        """Progress with the steps that have not been taken; empty without any."""
        steps = [self._steps.popleft() for _ in range(len(self._steps))]
        return {"steps": steps} if steps else {}

    def _report(self, **values: object) -> None:
        self.require_wanted()
        self._state = self._state | values
        self._tell({"progress": self._state})


Work = Callable[[Watch], Event]
"""What a thread does. It returns the result, or raises TicoreError."""


class Jobs:
    """Begins jobs, as long as there are few enough.

    Args:
        at_once: how many may run, at least 1.
        seconds: how long each may take.
    """

    def __init__(self, at_once: int, seconds: float) -> None:
        self._at_once = at_once
        self._seconds = seconds
        self._free = threading.BoundedSemaphore(at_once)

    def begin(self, work: Work) -> Job:
        """Start a thread for `work`. Called in the event loop that reads the events.

        Raises:
            RefusedError: there are too many jobs.
        """
        if not self._free.acquire(blocking=False):
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"expected at most {self._at_once} at work at a time, found that many already; "
                f"wait until one has ended and try again",
            )
        try:
            return Job(work, self._seconds, self._free.release)
        except BaseException:  # no thread can be started
            self._free.release()
            raise

    def end(self) -> None:
        """Wait a moment for work that was stopped. No other can begin meanwhile.

        The end of Python cuts off threads, and aborts the process if one is in C++ code.
        """
        until = time.monotonic() + _SECONDS_TO_STOP
        for _ in range(self._at_once):
            self._free.acquire(timeout=max(0.0, until - time.monotonic()))


class Job:
    """One piece of work in a thread of its own; `Jobs.begin` makes it.

    Args:
        work: what to do.
        seconds: how long it may take.
        ended: called when the thread ends.
    """

    def __init__(self, work: Work, seconds: float, ended: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._latest: Event = {}
        self._watch = Watch(self._tell)
        # A daemon: the end of the program does not wait for a model.
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def stop(self) -> None:
        """End the work soon; without effect if it has ended."""
        self._watch.stop()

    async def events(self) -> AsyncIterator[Event]:
        """What the job says, the last event being its result or its error.

        Progress replaces earlier progress that nobody has read yet, but no step is left out.
        """
        end = time.monotonic() + self._seconds
        while True:
            try:
                await asyncio.wait_for(self._changed.wait(), end - time.monotonic())
            except TimeoutError:
                self.stop()
                yield {
                    "error": f"expected the work to end within {self._seconds:g} seconds, found "
                    f"that it takes longer; try a shorter text, or a smaller model"
                }
                return
            self._changed.clear()
            latest = self._latest  # read before the steps: after the last event there are none
            steps = self._watch.take_steps()
            if "progress" in latest:
                yield {"progress": latest["progress"] | steps}
                continue
            if steps:
                yield {"progress": steps}
            yield latest
            return

    def _run(self, work: Work) -> None:
        try:
            last: Event = {"result": work(self._watch)}
        except StoppedError:
            last = {"error": "stopped"}
        except TicoreError as error:
            last = failure(error)
        except MemoryError:
            last = {"error": "expected memory for the work, found too little; take a shorter text"}
        except Exception as error:  # the last place where it can become words
            log_unexpected(error)
            last = {"error": UNEXPECTED}
        finally:
            self._ended()
        self._tell(last)

    def _tell(self, event: Event) -> None:
        self._latest = event
        try:
            self._loop.call_soon_threadsafe(self._changed.set)
        except RuntimeError:
            self.stop()  # the loop is closed: the server has ended


def log_unexpected(error: BaseException) -> None:
    """Log type and place of an error that nobody foresaw, not its text: it may hold a key."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    _LOG.error("unexpected %s at %s", type(error).__name__, place)
