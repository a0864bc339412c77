"""The processes that detect: none of them, and no thread of their pool, outlives `close`."""

import multiprocessing
import threading

from ticore._serve.detection.detectors import DetectorSettings
from ticore._serve.detection.workers import Workers


def test_nothing_of_the_pool_is_left_after_close():
    settings = DetectorSettings("tiny-en", ({"scheme": "gumbel", "key": "00" * 32},))
    threads, processes = {*threading.enumerate()}, {*multiprocessing.active_children()}
    workers = Workers(settings, 1, 60)
    assert {*multiprocessing.active_children()} - processes
    workers.close()
    assert {*threading.enumerate()} <= threads
    assert {*multiprocessing.active_children()} <= processes
