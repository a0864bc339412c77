"""Ctrl-C waits until processes have been started."""

from __future__ import annotations

import os
import signal
import time

import pytest

from ticore._support.interrupts import postponed_interrupts


def test_postponed_interrupts_raise_after_the_block() -> None:
    finished = False
    handler = signal.getsignal(signal.SIGINT)

    def interrupted() -> None:
        nonlocal finished
        with postponed_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            finished = True

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert finished
    assert signal.getsignal(signal.SIGINT) is handler
