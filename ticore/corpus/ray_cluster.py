"""Workers on a Ray cluster: the one that is running or named by RAY_ADDRESS, else this machine.

Every node must be able to open the tokenizer at the place that was given. The key travels to them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from typing import Any

from ..errors import TicoreError
from .base import Text
from .extras import need
from .results import Result
from .scoring import Task, score

_AHEAD = 3  # batches that a worker has before it, so that it never waits


class _Worker:
    def __init__(self, task: Task) -> None:
        self._detector = task.open()

    def score(self, texts: Sequence[Text]) -> list[Result]:
        return score(self._detector, texts)


def ray_cluster(
    task: Task, batches: Iterable[Sequence[Text]], workers: int | None = None
) -> Iterator[list[Result]]:
    """The results of each batch; see `Engine`. Raises MissingExtraError, TicoreError."""
    ray = need("ray", "scale", "the engine ray")
    own = not ray.is_initialized()
    try:
        if own:
            ray.init(log_to_driver=False, logging_level="error", include_dashboard=False)
        yield from _spread(ray, task, batches, workers)
    except (ray.exceptions.RayError, ConnectionError, RuntimeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise TicoreError(
            f"the Ray cluster could not do it: {why}; run the same command again to go on"
        ) from error
    finally:
        if own:
            ray.shutdown()


def _spread(
    ray: Any, task: Task, batches: Iterable[Sequence[Text]], workers: int | None
) -> Iterator[list[Result]]:
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
