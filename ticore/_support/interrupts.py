"""Processes that Ctrl-C does not reach: the one that started them ends them."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext


@contextmanager
def postponed_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends, and let processes that it starts never receive it.

    A terminal sends Ctrl-C to all processes. A worker would print a traceback; it should end when
    this process ends it. A new process inherits which signals are blocked. Blocking is not enough
    here, since another thread may receive the signal, so its handler only takes note of it.
    """
    in_main = threading.current_thread() is threading.main_thread()
    received: list[int] = []
    before = (
        signal.signal(signal.SIGINT, lambda number, _: received.append(number)) if in_main else None
    )
    mask = _blocked_interrupts() if sys.platform != "win32" else nullcontext()
    try:
        with mask:
            yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if received:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block Ctrl-C in this thread. It is delivered when the block ends."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
