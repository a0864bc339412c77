"""A job that is opened before its workers start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._base import CorpusText, Job


class OpenedJob:
    """A job, and what was opened for it. It opens what it needs at once.

    An executor that works in this process gets what was opened here. A worker elsewhere opens the
    job itself, and then nothing is kept here: two of them would take memory twice.

    Args:
        job: the job.

    Raises:
        TicoreError: as `Job.open`.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._opened = job.open()

    def depends_on(self) -> list[object]:
        """See `Job`."""
        return self._job.depends_on(self._opened)

    def open(self) -> Any:
        """What was opened; a second call opens the job again."""
        opened, self._opened = self._opened, None
        return self._job.open() if opened is None else opened

    def score(self, opened: Any, texts: Sequence[CorpusText]) -> list[Any]:
        """See `Job`."""
        return self._job.score(opened, texts)

    def __reduce__(self) -> tuple[Any, ...]:
        self._opened = None  # it is sent to a worker, which works instead of this process
        return _sent, (self._job,)


def _sent(job: Job) -> Job:
    return job
