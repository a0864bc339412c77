"""A place for work is free again, whatever happens to the work."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ticore._serve.jobs import Job, Jobs, Watch
from ticore._serve.refusals import RefusedError


def test_a_thread_that_cannot_be_started_keeps_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    start, asked = threading.Thread.start, []

    def start_from_the_second_on(thread: threading.Thread) -> None:
        asked.append(thread)
        if len(asked) == 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    async def work_twice() -> list[Any]:
        jobs = Jobs(at_once=1, seconds=20)
        with pytest.raises(RuntimeError):
            jobs.begin(lambda watch: {"done": 1})
        return [event async for event in jobs.begin(lambda watch: {"done": 2}).events()]

    monkeypatch.setattr(threading.Thread, "start", start_from_the_second_on)
    assert {"done": 2} in [event.get("result", event) for event in asyncio.run(work_twice())]


def test_the_end_waits_for_work_that_was_stopped() -> None:
    ended = threading.Event()

    def work(watch: Watch) -> Any:
        try:
            while True:
                watch.require_wanted()
        finally:
            ended.set()

    async def begun(jobs: Jobs) -> Job:
        return jobs.begin(work)

    jobs = Jobs(at_once=2, seconds=20)
    asyncio.run(begun(jobs)).stop()
    jobs.end()
    assert ended.is_set()
    with pytest.raises(RefusedError):
        asyncio.run(begun(jobs))
