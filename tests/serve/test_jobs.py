"""A place for work is free again, whatever happens to the work."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ticore._serve.jobs import Jobs


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
