"""How far a scan is: a bar on a terminal; elsewhere, such as in a log, a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import streams

_SECONDS = 30.0  # between two lines

Report = Callable[[int, int], None]
"""`f(done, total)`, called after each batch."""


@contextmanager
def scan_progress(title: str, batch_size: int) -> Iterator[Report]:
    """Shows progress, with rows per second and the time that is left, while the block runs.

    Args:
        title: what is done, such as "looking".
        batch_size: rows of each batch that is reported.
    """
    with streams.progress_bar(title) as bar:
        if bar is not None:
            yield bar
        else:
            yield ProgressLines(title, batch_size, streams.note)


class ProgressLines:
    """Tells how far a scan is, every half minute.

    Args:
        title: what is done.
        batch_size: rows of each batch that is reported.
        tell: called with a line.
        clock: seconds.
    """

    def __init__(
        self,
        title: str,
        batch_size: int,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._batch_size, self._tell, self._clock = title, batch_size, tell, clock
        self._started = self._told = clock()
        self._batches = 0
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Note a batch. `done` counts what was saved before, which took no time now."""
        now = self._clock()
        self._batches += 1
        if self._first is None:
            self._first = now, done
        if now - self._told < _SECONDS:
            return
        self._told = now
        rows = self._batches * self._batch_size / (now - self._started)
        began, before = self._first
        left = ""
        if done > before:
            left = f", {_said((total - done) * (now - began) / (done - before))} left"
        self._tell(
            f"ticore: {self._title}: {done / max(total, 1):.0%}, {rows:,.0f} rows per second{left}"
        )


def _said(seconds: float) -> str:
    """A time in words.

    >>> _said(12), _said(200), _said(9000)
    ('12 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
