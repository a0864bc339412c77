"""The commands put together, and the one place where an error becomes a line and a status."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from ..errors import TicoreError
from .demo import demo
from .messages import agree, embed, extract, keygen
from .models import models

app = typer.Typer(
    help="Make the tokens a language model emits survive being turned into text and read back.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (demo, embed, extract, keygen, agree, models):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(version("ticore"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except TicoreError as error:
        print(f"ticore: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
