"""Progress bars. They are shown only where stderr is a terminal, and vanish at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TimeRemainingColumn,
)
from rich.progress import track as rich_track

T = TypeVar("T")

messages = Console(stderr=True)
"""Where everything goes that is not a result."""


def track(items: Iterable[T], description: str, total: int) -> Iterable[T]:
    """The items, one by one, with a progress bar."""
    quiet = not messages.is_terminal
    return rich_track(items, description, total, console=messages, transient=True, disable=quiet)


@contextmanager
def progress_bar(total: int, done: int = 0) -> Iterator[Callable[[int, str], None]]:
    """A progress bar that counts to `total`.

    Args:
        total: what it counts to.
        done: where it starts.

    Returns:
        A context whose value is a function. Call it with how much more is done, and what is done.
    """
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = not messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=quiet) as progress:
        task = progress.add_task("", total=total, completed=done)

        def advance(more: int, description: str) -> None:
            progress.update(task, advance=more, description=description)

        yield advance
