"""Batches go to workers that have started; a stand-in for Ray says which these are."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ticore.corpus import _ray_cluster as module
from ticore.corpus._base import CorpusText
from ticore.errors import TicoreError


class Lengths:
    """See `WorkerTask`."""

    def open(self) -> None:
        pass

    def score(self, _: object, texts: Sequence[CorpusText]) -> list[int]:
        return [len(text) for text in texts if isinstance(text, str)]


class Ray:
    """A cluster in which a worker starts while there is a CPU for it.

    Args:
        cpus: how many workers start.

    Attributes:
        used: the numbers of the workers whose results were waited for.
    """

    def __init__(self, cpus: int) -> None:
        self.used: set[int] = set()
        self._cpus, self._workers, self._waited = cpus, 0, False

    def remote(self, **_: object) -> Any:
        return lambda make: SimpleNamespace(remote=lambda task: self._worker(make(task)))

    def _worker(self, worker: Any) -> Any:
        number, self._workers = self._workers, self._workers + 1

        def call(method: Any) -> Any:
            return SimpleNamespace(remote=lambda *given: (number, method, *given))

        return SimpleNamespace(started=call(worker.started), score=call(worker.score))

    def wait(
        self, calls: Sequence[Any], *, num_returns: int, timeout: float
    ) -> tuple[list[Any], list[Any]]:
        """Nothing has started before somebody waits."""
        self._waited = self._waited or timeout > 0
        started = [call for call in calls if self._waited and call[0] < self._cpus][:num_returns]
        return started, [call for call in calls if call not in started]

    def get(self, call: Any) -> Any:
        number, method, *given = call
        assert number < self._cpus, "this would wait for ever"
        self.used.add(number)
        return method(*given)


def spread(ray: Ray, workers: int) -> tuple[list[Any], list[str]]:
    said: list[str] = []
    batches = [["a" * n] for n in range(20)]
    return [*module._spread(ray, Lengths(), batches, workers, said.append)], said


def test_workers_without_a_cpu_get_no_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LATE", -1.0)
    ray = Ray(cpus=2)
    found, said = spread(ray, workers=3)
    assert (found, ray.used) == ([[n] for n in range(20)], {0, 1})
    assert said == ["2 of 3 workers have started: the Ray cluster has no free CPU for more"]


def test_nothing_is_said_when_all_workers_start() -> None:
    ray = Ray(cpus=3)
    assert spread(ray, workers=3) == ([[n] for n in range(20)], [])
    assert ray.used == {0, 1, 2}


def test_a_scan_ends_with_an_error_when_no_worker_starts() -> None:
    with pytest.raises(
        TicoreError, match="expected a worker to start in the Ray cluster, found none"
    ):
        spread(Ray(cpus=0), workers=2)
