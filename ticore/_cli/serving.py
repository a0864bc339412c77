"""What the commands that answer requests share: addresses, the extra they need, and their end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated

import typer

from .._support.installing import require_module
from . import streams
from .usage import wrong_settings_are_wrong_usage

ADDRESS, WORK = "Address", "Work"

Host = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The name or address of this computer that requests are sent to.",
        rich_help_panel=ADDRESS,
    ),
]
UnencryptedNetwork = Annotated[
    bool,
    typer.Option(
        "--unencrypted-network",
        help="Allow a --host that other computers reach. Anyone there can send requests, and "
        "anyone on the way can read them.",
        rich_help_panel=ADDRESS,
    ),
]


def server_module(name: str, command: str) -> ModuleType:
    """A module of `ticore._serve` that needs the extra `serve`.

    Args:
        name: of the module.
        command: what needs it, for the error.

    Raises:
        MissingExtraError: a package of the extra is not installed.
    """
    return require_module(f"ticore._serve.{name}", "serve", f"`ticore {command}`")


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Ctrl-C is the usual end, and SIGTERM ends in the same way, so that all is closed.

    An address that cannot be served is wrong usage.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with wrong_settings_are_wrong_usage():
            yield
    except KeyboardInterrupt:
        streams.note()  # the usual end, after a ^C
    finally:
        signal.signal(signal.SIGTERM, before)
