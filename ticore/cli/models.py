"""`ticore models`: which models can be opened here."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..registry import model_backends
from . import streams


def models(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the models that ship with ticore and the backends that load others."""
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
        if entry.backend is None:
            table.add_row(f"{entry.name}:LOCATION", entry.problem)
            continue
        for name, summary in entry.backend.shipped.items():
            table.add_row(f"[bold cyan]{name}", summary)
        table.add_row(f"{entry.name}:LOCATION", entry.backend.summary)
    Console().print(table)
