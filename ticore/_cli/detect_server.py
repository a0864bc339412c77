"""`ticore detect-server`: detection of watermarks for other programs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from .._support.visible import visible
from ..errors import CredentialError
from . import streams
from .configurations import read_list
from .options import file_option
from .secrets import warn_of_others
from .serving import ADDRESS, WORK, Host, UnencryptedNetwork, server_module, until_interrupted
from .usage import UsageError
from .watermark_options import DEFAULT_FPR, WATERMARK, Fpr, TokenizerPlace, WatermarkOptions

_MOST_TOKEN = 4096


def detect_server(
    config: Annotated[
        Path,
        file_option("The configurations to look for, as a JSON list.", panel=WATERMARK),
    ],
    fpr: Fpr = DEFAULT_FPR,
    tokenizer: TokenizerPlace = None,
    port: Annotated[
        int,
        typer.Option(metavar="N", help="The port; 0 takes a free one.", rich_help_panel=ADDRESS),
    ] = 8000,
    host: Host = "127.0.0.1",
    unencrypted_network: UnencryptedNetwork = False,
    token_file: Annotated[
        Path | None,
        file_option(
            "Answer only requests with the header `Authorization: Bearer TOKEN`, where TOKEN is "
            "what this file holds. GET /healthz needs none.",
            panel=ADDRESS,
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(metavar="N", help="How many processes look at texts.", rich_help_panel=WORK),
    ] = 2,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long a request may take.", rich_help_panel=WORK),
    ] = 60,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="How many requests a second one address may send; without it, any number.",
            rich_help_panel=WORK,
        ),
    ] = None,
) -> None:
    """Look for watermarks on request of other programs.

    POST /detect takes a JSON object with a text, a list of texts, or token ids. It answers as
    vLLM's example of a detection server does, and more: GET /openapi.json describes it. Keys are in
    the file of --config or in those that it names, and in no request, answer or log. It needs no
    model. Ctrl-C ends it.
    """
    server, detectors = (
        server_module(f"detection.{name}", "detect-server") for name in ("server", "detectors")
    )
    options = WatermarkOptions(config=config, tokenizer=tokenizer)
    listed = read_list(options)
    if listed is None:
        raise UsageError(
            f"--config: expected a JSON list of configurations in "
            f"{visible(str(config))}, found something else; put it in brackets"
        )
    token = "" if token_file is None else _token(token_file)
    settings = detectors.DetectorSettings(options.place, tuple(listed.entries), fpr)
    for path in (*listed.secret_files, token_file):
        warn_of_others(path)

    def started(address: str) -> None:
        streams.note(f"detection is at {visible(address)}detect until you press Ctrl-C")

    with until_interrupted():
        server.serve_detection(
            settings,
            host,
            port,
            to_network=unencrypted_network,
            processes=processes,
            seconds=time_limit,
            rate=math.inf if rate is None else rate,
            token=token,
            started=started,
        )


def _token(file: Path) -> str:
    """The token in a file. Raises CredentialError, FileError."""
    token = streams.read_text_file(file, _MOST_TOKEN).strip()
    if not token.isascii() or len(token) < 16 or any(c.isspace() for c in token):
        raise CredentialError(
            f"{file}: expected a token of at least 16 ASCII characters without spaces, found "
            f"something else; make one with `ticore keygen`"
        )
    return token
