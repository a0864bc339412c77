"""The processes that detect: none of them, and no thread of their pool, outlives `close`."""

import asyncio
import multiprocessing
import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from ticore._serve.detection import workers as module
from ticore._serve.detection.detectors import DetectorSettings
from ticore._serve.detection.query import Query
from ticore._serve.detection.workers import Workers
from ticore._serve.refusals import RefusedError


def test_nothing_of_the_pool_is_left_after_close():
    settings = DetectorSettings("tiny-en", ({"scheme": "gumbel", "key": "00" * 32},))
    threads, processes = {*threading.enumerate()}, {*multiprocessing.active_children()}
    workers = Workers(settings, 1, 60)
    assert {*multiprocessing.active_children()} - processes
    workers.close()
    assert {*threading.enumerate()} <= threads
    assert {*multiprocessing.active_children()} <= processes


def test_close_waits_for_no_text():
    workers = Workers(DetectorSettings("tiny-en", ({"scheme": "gumbel", "key": "00" * 32},)), 1, 60)
    at_work = workers._pool.submit(time.sleep, 3600)
    while not at_work.running():
        time.sleep(0.01)
    workers.close()
    assert isinstance(at_work.exception(), BrokenProcessPool)


def test_a_text_that_there_is_no_memory_for_gets_an_answer(monkeypatch):
    class Full:
        def named(self, *_):
            return self

        def detect(self, text):
            raise MemoryError

    monkeypatch.setattr(module, "_opened", Full())
    query = Query(items=("a",), is_one=True, configuration=None)
    (found,) = module._answers(query, float("inf"))
    assert "expected a text that there is memory for" in found["error"]


def test_a_request_that_was_refused_meanwhile_is_not_worked_on(monkeypatch):
    class AllAtWork:
        def submit(self, *work):
            self.work = work
            return Future()

    class Detectors:
        def named(self, *_):
            return self

        def detect(self, text):
            pytest.fail("nobody waits for it")

    pool = AllAtWork()
    monkeypatch.setattr(Workers, "_started", lambda self: pool)
    workers = Workers(DetectorSettings("tiny-en", ()), 1, 0.01)
    with pytest.raises(RefusedError, match="expected an answer within"):
        asyncio.run(workers.answers(Query(("a",), is_one=True, configuration=None)))
    monkeypatch.setattr(module, "_opened", Detectors())
    work, *given = pool.work
    with pytest.raises(TimeoutError):
        work(*given)
