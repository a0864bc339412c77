"""`ticore serve`: the page for people who do not use a terminal."""

from __future__ import annotations

import webbrowser
from importlib import import_module
from typing import Annotated

import typer

from .._support.installing import how_to_install
from ..errors import MissingExtraError, SettingsError
from . import streams
from .usage import UsageError

_ADDRESS, _WORK = "Address", "Work"
_EXTRA = ("starlette", "uvicorn")


def serve(
    port: Annotated[
        int,
        typer.Option(metavar="N", help="The port; 0 takes a free one.", rich_help_panel=_ADDRESS),
    ] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The name or address of this computer that the page is served at.",
            rich_help_panel=_ADDRESS,
        ),
    ] = "127.0.0.1",
    unencrypted_network: Annotated[
        bool,
        typer.Option(
            "--unencrypted-network",
            help="Allow a --host that other computers reach. Anyone there can use the page, and "
            "anyone on the way can read keys and messages.",
            rich_help_panel=_ADDRESS,
        ),
    ] = False,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Open the page in a browser.", rich_help_panel=_ADDRESS),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(metavar="N", help="How many messages at a time.", rich_help_panel=_WORK),
    ] = 2,
    time_limit: Annotated[
        int,
        typer.Option(metavar="SECONDS", help="How long a message may take.", rich_help_panel=_WORK),
    ] = 600,
) -> None:
    """Serve a page for the browser.

    The page writes and reads messages, writes and finds watermarks, and shows tokens. It is for
    this computer alone, unless you say otherwise. It stores nothing, and fetches nothing from
    elsewhere. It opens the models that `ticore models` lists by name. Ctrl-C ends it.
    """
    try:
        server = import_module("ticore._serve.server")
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        raise MissingExtraError(
            f"`ticore serve` needs the package {error.name!r}, which is not installed; "
            f"{how_to_install('serve')}"
        ) from error

    def started(address: str) -> None:
        streams.note(f"the page is at {streams.printable(address)} until you press Ctrl-C")
        if browser:
            webbrowser.open(address)

    try:
        server.serve(
            host,
            port,
            to_network=unencrypted_network,
            at_once=jobs,
            seconds=time_limit,
            started=started,
        )
    except SettingsError as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        streams.note()  # the usual end, after a ^C
