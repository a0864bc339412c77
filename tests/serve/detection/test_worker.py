"""What a process does with one request."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ticore._serve.detection import worker
from ticore._serve.detection.detectors import DetectorSettings


class Detectors:
    """Finds that there is no memory for any text, alone or beside others."""

    names = ()

    def __init__(self) -> None:
        self.looked_at = list[list[str]]()

    def named(self, *_: object) -> Detectors:
        return self

    def detect_batch(self, texts: list[str], *, tick: Callable[[], None]) -> None:
        for _ in texts:
            tick()
        self.looked_at.append(texts)
        raise MemoryError


@pytest.fixture
def detectors(monkeypatch: pytest.MonkeyPatch) -> Detectors:
    opened = Detectors()
    monkeypatch.setattr(worker, "_opened", opened)
    return opened


def test_a_text_that_there_is_no_memory_for_gets_an_answer(detectors: Detectors) -> None:
    status, found = worker.answered(b'{"text": "a"}', float("inf"))
    assert status == 422
    assert "expected a text that there is memory for" in json.loads(found)["error"]


@pytest.mark.parametrize(
    ("now", "looked_at"),
    [
        ([5.1], []),
        ([1.0, 5.0, 5.1], []),
        ([1.0, 2.0, 3.0, 5.1], [["a", "b"]]),
        ([1.0, 2.0, 3.0, 5.0, 5.1], [["a", "b"], ["a"]]),
    ],
)
def test_work_ends_once_its_time_is_over(
    detectors: Detectors,
    monkeypatch: pytest.MonkeyPatch,
    now: list[float],
    looked_at: list[list[str]],
) -> None:
    left = iter(now)
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(left))
    with pytest.raises(TimeoutError):
        worker.answered(b'{"texts": ["a", "b"]}', 5.0)
    assert detectors.looked_at == looked_at
    assert next(left, None) is None


def test_texts_are_looked_at_together_and_then_one_by_one(detectors: Detectors) -> None:
    status, found = worker.answered(b'{"texts": ["a", "b"]}', float("inf"))
    assert detectors.looked_at == [["a", "b"], ["a"], ["b"]]
    assert status == 200
    assert ["memory" in each["error"] for each in json.loads(found)["results"]] == [True, True]


def test_what_is_not_understood_is_refused_with_its_status(detectors: Detectors) -> None:
    status, found = worker.answered(b"[]", float("inf"))
    assert status == 400
    assert json.loads(found)["error"].startswith("expected a JSON object")


def test_a_search_for_payloads_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    schemes = ("gumbel", "gumbel_payload")
    entries = [{"name": name, "scheme": name, "key": "5a" * 32} for name in schemes]
    monkeypatch.setattr(worker, "_opened", DetectorSettings("tiny-en", tuple(entries)).open())
    asked = {"text": "It was late when they came home.", "tokenizations": "search"}
    for name, expected in ((None, 200), ("gumbel", 200), ("gumbel_payload", 400)):
        body = json.dumps(asked | {"configuration": name}).encode()
        status, found = worker.answered(body, float("inf"))
        assert status == expected
        assert ("expected read or places" in json.loads(found).get("error", "")) == (status == 400)


def test_a_process_that_holds_keys_ends_with_its_parent(monkeypatch):
    done = []
    settings = SimpleNamespace(open=lambda: done.append("opened"))
    monkeypatch.setattr(worker, "end_with_parent", lambda: done.append("bound"))
    monkeypatch.setattr(worker, "_opened", None)
    worker.start(settings)
    assert done == ["bound", "opened"]
