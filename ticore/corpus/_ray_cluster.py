"""An executor whose workers run on a Ray cluster.

It is the cluster that this process is connected to, or the one in RAY_ADDRESS, or else a new one on
this machine. Every node must be able to open the tokenizer at the given place. The key is sent to
every node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from time import monotonic
from typing import Any

from .._support.installing import require_module
from ..errors import TicoreError
from ._base import CorpusText, WorkerTask

_AHEAD = 3  # batches that are queued per worker, so that none waits
_LATE = 60.0  # seconds after which it is said that workers have not started
_MOST_SECONDS = 300.0  # to wait for the first worker


class _Worker:
    def __init__(self, task: WorkerTask) -> None:
        self._task, self._opened = task, task.open()

    def started(self) -> None:
        """Has no result until there is a free CPU for this worker."""

    def score(self, texts: Sequence[CorpusText]) -> list[Any]:
        return self._task.score(self._opened, texts)


def ray_cluster(
    task: WorkerTask,
    batches: Iterable[Sequence[CorpusText]],
    workers: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Generator[list[Any], None, None]:
    """The results of each batch; see `Executor`.

    Connect to Ray before you start scans in several threads. Otherwise the scan that connected to
    it disconnects all of them when it ends.

    Raises:
        MissingExtraError: Ray is not installed.
        TicoreError: the cluster failed, no worker started, or as `WorkerTask.open`.
    """
    ray = require_module("ray", "scale", "the executor ray")
    own = not ray.is_initialized()
    try:
        if own:
            ray.init(log_to_driver=False, logging_level="error", include_dashboard=False)
        yield from _spread(ray, task, batches, workers, tell)
    except (ray.exceptions.RayError, ConnectionError, RuntimeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise TicoreError(
            f"expected the Ray cluster to score all batches, found an error: {why}; "
            f"run the same command again to go on"
        ) from error
    finally:
        if own:
            ray.shutdown()


def _spread(
    ray: Any,
    task: WorkerTask,
    batches: Iterable[Sequence[CorpusText]],
    workers: int | None,
    tell: Callable[[str], None],
) -> Generator[list[Any], None, None]:
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    make = ray.remote(num_cpus=1)(_Worker)
    crew = _Crew(ray, [make.remote(task) for _ in range(count)], tell)
    waiting: deque[Any] = deque()
    for number, batch in enumerate(batches):
        started = crew.started()
        waiting.append(started[number % len(started)].score.remote(batch))
        if len(waiting) >= _AHEAD * len(started):
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())


class _Crew:
    """The workers of a scan. One without a free CPU waits, and would let its batches wait too.

    Args:
        ray: the package.
        workers: all of them.
        tell: called with a sentence if some have not started after a while.
    """

    def __init__(self, ray: Any, workers: Sequence[Any], tell: Callable[[str], None]) -> None:
        self._ray, self._tell, self._count = ray, tell, len(workers)
        self._starting = {worker.started.remote(): worker for worker in workers}
        self._started: list[Any] = []
        self._late: float | None = None  # counted from the first that has started

    def started(self) -> Sequence[Any]:
        """The workers that have started, at least one. Raises TicoreError: none does."""
        if self._starting:
            self._look()
        return self._started

    def _look(self) -> None:
        starting = list(self._starting)
        if not self._started:
            self._ray.wait(starting, num_returns=1, timeout=_MOST_SECONDS)
        done, _ = self._ray.wait(starting, num_returns=len(starting), timeout=0)
        self._started += [self._starting.pop(one) for one in done]
        if not self._started:
            raise TicoreError(
                f"expected a worker to start in the Ray cluster, found none after "
                f"{_MOST_SECONDS:.0f} seconds; is a CPU free there? Run the same command again to "
                f"go on"
            )
        if self._late is None:
            self._late = monotonic() + _LATE
        if self._starting and monotonic() > self._late:
            self._tell(
                f"{len(self._started)} of {self._count} workers have started: the Ray cluster has "
                f"no free CPU for more"
            )
            self._late = float("inf")
