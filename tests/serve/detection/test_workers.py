"""The processes that detect: none of them, and no thread of their pool, outlives `close`."""

import asyncio
import multiprocessing
import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from math import inf

import pytest

from tests.serve.conftest import need
from ticore._serve.detection import worker
from ticore._serve.detection import workers as workers_module
from ticore._serve.detection.detectors import DetectorSettings
from ticore._serve.detection.pulse import Pulse
from ticore._serve.detection.workers import MOST_WAITING, Workers
from ticore._serve.refusals import RefusedError

from .conftest import Service

gate, make_app = need("detection.gate"), need("detection.app").make_app
GATE = gate.ServiceGate(frozenset({"127.0.0.1"}))


class BreaksAfterOneStart:
    """A pool that takes one piece of work, which comes to nothing, and breaks."""

    def __init__(self, *_, **__):
        self.left = 1

    def submit(self, *work):
        if not self.left:
            raise BrokenProcessPool
        self.left -= 1
        broken = Future()
        broken.set_exception(BrokenProcessPool())
        return broken


def test_nothing_of_the_pool_is_left_after_close():
    settings = DetectorSettings("tiny-en", ({"scheme": "gumbel", "key": "00" * 32},))
    threads, processes = {*threading.enumerate()}, {*multiprocessing.active_children()}
    workers = Workers(settings, 1, 60)
    assert {*multiprocessing.active_children()} - processes
    workers.close()
    assert {*threading.enumerate()} <= threads
    assert {*multiprocessing.active_children()} <= processes


def test_ctrl_c_between_two_starts_ends_those_that_have_started(monkeypatch):
    started = []

    def interrupted(_, question):
        started.append(question)
        if len(started) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Pulse, "follow", interrupted)
    processes = {*multiprocessing.active_children()}
    with pytest.raises(KeyboardInterrupt):
        Workers(DetectorSettings("tiny-en", ()), 1_000, 60)
    assert len(started) == 2
    assert {*multiprocessing.active_children()} <= processes


def test_a_process_that_ends_while_others_start_is_noticed_by_the_next_request(monkeypatch):
    monkeypatch.setattr(workers_module, "ProcessPoolExecutor", BreaksAfterOneStart)
    workers = Workers(DetectorSettings("tiny-en", ()), 2, 60)
    with pytest.raises(RefusedError, match="found that it ends each time"):
        asyncio.run(workers.answered(b'{"text": "a"}'))


def test_close_waits_for_no_text():
    workers = Workers(DetectorSettings("tiny-en", ({"scheme": "gumbel", "key": "00" * 32},)), 1, 60)
    at_work = workers._pool.submit(time.sleep, 3600)
    while not at_work.running():
        time.sleep(0.001)
    workers.close()
    assert isinstance(at_work.exception(), BrokenProcessPool)


def test_a_request_that_was_refused_meanwhile_is_not_worked_on(monkeypatch):
    class AllAtWork:
        def submit(self, *work):
            self.work = work
            return Future()

    pool = AllAtWork()
    monkeypatch.setattr(Workers, "_started", lambda self: pool)
    workers = Workers(DetectorSettings("tiny-en", ()), 1, 0.01)
    with pytest.raises(RefusedError, match="expected an answer within"):
        asyncio.run(workers.answered(b'{"text": "a"}'))
    monkeypatch.setattr(worker, "_opened", "not looked at")
    work, *given = pool.work
    with pytest.raises(TimeoutError):
        work(*given)


def test_processes_that_answer_nothing_for_too_long_are_noticed(monkeypatch):
    class Hung:
        def submit(self, *work):
            return Future()

    monkeypatch.setattr(Workers, "_started", lambda self: Hung())
    now = [0.0]
    workers = Workers(DetectorSettings("tiny-en", ()), 1, 60)
    workers._pulse = Pulse(lambda: now[0])
    service = Service(make_app(DetectorSettings("tiny-en", ()), (), workers, GATE, gate.Rate(inf)))
    assert service.get("/healthz").status == 200
    now[0] = 600.0  # a long text under many keys takes minutes
    assert service.get("/healthz").status == 200
    now[0] = 961.0
    found = service.get("/healthz")
    assert found.status == 503
    assert "found none that has for 961 seconds" in found.error


def test_processes_that_never_start_are_noticed(monkeypatch):
    """Each is followed from its start, so that a pool which breaks at once says nothing either."""
    now = [0.0]
    monkeypatch.setattr(workers_module, "ProcessPoolExecutor", BreaksAfterOneStart)
    monkeypatch.setattr(workers_module, "Pulse", lambda: Pulse(lambda: now[0]))
    workers = Workers(DetectorSettings("tiny-en", ()), 1, 60)
    workers.require_life()
    now[0] = 961.0
    with pytest.raises(RefusedError, match="found none that has for 961 seconds"):
        workers.require_life()


def test_requests_have_a_place_before_their_body_is_read(monkeypatch):
    monkeypatch.setattr(Workers, "_started", lambda self: None)
    workers = Workers(DetectorSettings("tiny-en", ()), 1, 60)
    with ExitStack() as places:
        for _ in range(MOST_WAITING):
            places.enter_context(workers.place())
        service = make_app(DetectorSettings("tiny-en", ()), (), workers, GATE, gate.Rate(inf))
        assert Service(service).ask({"text": "a"}, content_type="text/plain").status == 503
    assert Service(service).ask({"text": "a"}, content_type="text/plain").status == 415
