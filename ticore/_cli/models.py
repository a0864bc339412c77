"""`ticore models`: which models can be opened here."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..registry import model_backends
from . import streams


def models(
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list instead.", rich_help_panel="Output")
    ] = False,
) -> None:
    """List the models that can be opened here.

    The first column holds what --model takes: the name of a bundled model, or BACKEND:LOCATION for
    files of your own.
    """
    backends = model_backends()
    if json:
        return streams.write_json(
            [
                {
                    "backend": entry.name,
                    "summary": entry.backend.summary if entry.backend else None,
                    "shipped": dict(entry.backend.shipped) if entry.backend else {},
                    "problem": entry.problem,
                }
                for entry in backends
            ]
        )
    table = Table("place", "what it is", box=None, pad_edge=False, header_style="bold")
    for entry in backends:
        shipped = entry.backend.shipped if entry.backend else {}
        for name, summary in shipped.items():
            table.add_row(Text(name, style="bold cyan"), Text(summary))
        summary = entry.backend.summary if entry.backend else entry.problem or ""
        style = "" if entry.backend else "dim"
        table.add_row(Text(f"{entry.name}:LOCATION"), Text(summary), style=style)
    streams.show(table)
