"""Kinds of options that commands of every section have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

MODEL, OUTPUT = "Model", "Output"


def option(metavar: str, help_text: str, *names: str, panel: str, default: object = None) -> Any:
    """An option whose value is None where it is not given; the help names the default."""
    shown = "" if default is None else f"  [default: {default}]"
    return typer.Option(
        *names,
        metavar=metavar,
        help=help_text + shown,
        rich_help_panel=panel,
        show_default=False,
    )


def file_option(help_text: str, *names: str, panel: str) -> Any:
    """An option that names a file; whether it can be read shows when it is opened."""
    return typer.Option(
        *names,
        metavar="FILE",
        parser=file_path,
        help=help_text,
        rich_help_panel=panel,
        show_default=False,
    )


def files_argument(help_text: str) -> Any:
    """The files that a command reads, which may be folders."""
    return typer.Argument(metavar="FILE", parser=file_path, help=help_text, show_default=False)


def file_path(given: str) -> Path:
    """The path of a name.

    An empty name, as of a variable that is not set, is refused: to Path it is the current folder.
    Raises typer.BadParameter.
    """
    if not given:
        raise typer.BadParameter("expected the name of a file, found an empty one")
    return Path(given)


Json = Annotated[
    bool, typer.Option("--json", help="Print a JSON object instead.", rich_help_panel=OUTPUT)
]
NewSecretFile = Annotated[
    Path | None,
    file_option(
        "Write to this new file, which you alone can read, instead of standard output.",
        "--output",
        "-o",
        panel=OUTPUT,
    ),
]
