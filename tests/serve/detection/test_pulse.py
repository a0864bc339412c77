"""Busy processes are alive; those that answer nothing are not."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from ticore._serve.detection.pulse import Pulse


class Asked:
    """A pulse, its clock, and questions at the times 0 and 1."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pulse = Pulse(lambda: self.now)
        self.first, self.second = Future[None](), Future[None]()
        self.pulse.follow(self.first)
        self.now = 1.0
        self.pulse.follow(self.second)
        self.now = 50.0


def test_silence_begins_with_the_first_question() -> None:
    assert Asked().pulse.silence == 50.0


@pytest.mark.parametrize("error", [None, TimeoutError()])
def test_each_answer_ends_it_also_that_time_is_over(error: Exception | None) -> None:
    asked = Asked()
    asked.first.set_exception(error) if error else asked.first.set_result(None)
    asked.now = 60.0
    assert asked.pulse.silence == 10.0
    assert not asked.pulse.is_idle
    asked.second.set_result(None)
    asked.now = 1000.0
    assert asked.pulse.silence == 0.0
    assert asked.pulse.is_idle


def test_a_question_that_is_withdrawn_or_lost_is_not_answered() -> None:
    asked = Asked()
    asked.first.cancel()
    asked.second.set_exception(BrokenProcessPool())
    assert asked.pulse.is_idle
    assert asked.pulse.silence == 50.0
