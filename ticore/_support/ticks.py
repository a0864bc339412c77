"""How long work is ended by who asked for it: it calls a function again and again."""

from __future__ import annotations

from collections.abc import Callable

Tick = Callable[[], None]
"""Called again and again while work is done. What it raises ends the work."""


def no_tick() -> None:
    """A Tick that lets all work go on."""
