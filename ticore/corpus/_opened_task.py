"""A task that is opened before its workers start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._base import CorpusText, ScanTask


class OpenedTask:
    """A task, and what was opened for it. It opens what it needs at once.

    An executor that works in this process gets what was opened here. A worker elsewhere opens the
    task itself, and then nothing is kept here: two of them would take memory twice.

    Args:
        task: the task.

    Raises:
        TicoreError: as `ScanTask.open`.
    """

    def __init__(self, task: ScanTask) -> None:
        self._task = task
        self._opened = task.open()

    def depends_on(self) -> list[object]:
        """See `ScanTask`."""
        return self._task.depends_on(self._opened)

    def open(self) -> Any:
        """What was opened; a second call opens the task again."""
        opened, self._opened = self._opened, None
        return self._task.open() if opened is None else opened

    def score(self, opened: Any, texts: Sequence[CorpusText]) -> list[Any]:
        """See `ScanTask`."""
        return self._task.score(opened, texts)

    def __reduce__(self) -> tuple[Any, ...]:
        self._opened = None  # it is sent to a worker, which works instead of this process
        return _sent, (self._task,)


def _sent(task: ScanTask) -> ScanTask:
    return task
