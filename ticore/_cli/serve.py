"""`ticore serve`: the page for people who do not use a terminal."""

from __future__ import annotations

import webbrowser
from threading import Thread
from typing import Annotated

import typer

from .._support.visible import visible
from . import streams
from .serving import ADDRESS, WORK, Host, UnencryptedNetwork, server_module, until_interrupted


def serve(
    port: Annotated[
        int,
        typer.Option(metavar="N", help="The port; 0 takes a free one.", rich_help_panel=ADDRESS),
    ] = 0,
    host: Host = "127.0.0.1",
    unencrypted_network: UnencryptedNetwork = False,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Open the page in a browser.", rich_help_panel=ADDRESS),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(metavar="N", help="How many messages at a time.", rich_help_panel=WORK),
    ] = 2,
    time_limit: Annotated[
        int,
        typer.Option(metavar="SECONDS", help="How long a message may take.", rich_help_panel=WORK),
    ] = 600,
) -> None:
    """Serve a page for the browser.

    The page writes and reads messages, writes and finds watermarks, and shows tokens. It is for
    this computer alone, unless you say otherwise. It stores nothing, and fetches nothing from
    elsewhere. It opens the models that `ticore models` lists by name. Ctrl-C ends it.
    """
    server = server_module("server", "serve")

    def started(address: str) -> None:
        streams.note(f"the page is at {visible(address)} until you press Ctrl-C")
        if browser:
            # In a thread: some browsers are waited for, and this one answers them.
            Thread(target=webbrowser.open, args=(address,), name="browser", daemon=True).start()

    with until_interrupted():
        server.serve(
            host,
            port,
            to_network=unencrypted_network,
            at_once=jobs,
            seconds=time_limit,
            started=started,
        )
