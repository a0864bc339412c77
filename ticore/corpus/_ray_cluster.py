"""An executor whose workers run on a Ray cluster.

It is the cluster that this process is connected to, or the one in RAY_ADDRESS, or else a new one on
this machine. Every node must be able to open the tokenizer at the given place. The key is sent to
every node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from itertools import cycle
from typing import Any

from ..errors import TicoreError
from ._base import CorpusText, Work
from ._extras import require_module

_AHEAD = 3  # batches that are queued per worker, so that none waits


class _Worker:
    def __init__(self, task: Work) -> None:
        self._task, self._opened = task, task.open()

    def score(self, texts: Sequence[CorpusText]) -> list[Any]:
        return self._task.score(self._opened, texts)


def ray_cluster(
    task: Work, batches: Iterable[Sequence[CorpusText]], workers: int | None = None
) -> Generator[list[Any], None, None]:
    """The results of each batch; see `Executor`.

    Connect to Ray before you start scans in several threads. Otherwise the scan that connected to
    it disconnects all of them when it ends.

    Raises:
        MissingExtraError: Ray is not installed.
        TicoreError: the cluster failed, or as `Work.open`.
    """
    ray = require_module("ray", "scale", "the executor ray")
    own = not ray.is_initialized()
    try:
        if own:
            ray.init(log_to_driver=False, logging_level="error", include_dashboard=False)
        yield from _spread(ray, task, batches, workers)
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
    ray: Any, task: Work, batches: Iterable[Sequence[CorpusText]], workers: int | None
) -> Generator[list[Any], None, None]:
    count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    make = ray.remote(num_cpus=1)(_Worker)
    actors = [make.remote(task) for _ in range(count)]
    waiting: deque[Any] = deque()
    for actor, batch in zip(cycle(actors), batches, strict=False):
        waiting.append(actor.score.remote(batch))
        if len(waiting) >= _AHEAD * count:
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())
