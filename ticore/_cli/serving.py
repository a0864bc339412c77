"""What the commands that answer requests share: addresses, the extra they need, and their end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer

from .._support.installing import how_to_install
from ..errors import MissingExtraError
from . import streams
from .usage import wrong_settings_are_wrong_usage

ADDRESS, WORK = "Address", "Work"
_EXTRA = ("starlette", "uvicorn")

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
    try:
        return import_module(f"ticore._serve.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        raise MissingExtraError(
            f"`ticore {command}` needs the package {missing!r}, which is not installed; "
            f"{how_to_install('serve')}"
        ) from error


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
