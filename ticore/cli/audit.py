"""`ticore audit`: what to know about a tokenizer before relying on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, cast, get_args

import typer
from rich.table import Table
from rich.text import Text

from ..consistency import Audit, Mode
from ..consistency import audit as examine
from ..registry import load_tokenizer
from . import streams
from .settings import DEFAULT_MODEL
from .usage import UsageError

_SHOWN = 12  # findings of one kind that a person sees; --json has all


def audit(
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a shipped model, or BACKEND:LOCATION, such as "
            "sentencepiece:tokenizer.model.",
        ),
    ] = DEFAULT_MODEL,
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Which tokens count as consistent: {', '.join(get_args(Mode))}.",
        ),
    ] = "prefix",
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object instead.")] = False,
) -> None:
    """Say what to know about a tokenizer.

    How it is verified, which of its tokens no text gives, and which texts become control tokens.
    The exit status is 0 whatever is found.
    """
    if mode not in get_args(Mode):
        raise UsageError(
            f"--mode: expected one of {', '.join(get_args(Mode))}, found {streams.printable(mode)}"
        )
    with streams.progress_bar("examining") as progress:
        found = examine(load_tokenizer(tokenizer), cast(Mode, mode), progress)
    if json:
        return streams.write_json(asdict(found) | {"tables": str(found.tables)})
    streams.show(_overview(found), "", _hazards(found), _unreachable(found))


def _overview(found: Audit) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, value in (
        ("tokenizer", f"{found.kind}, {found.vocab_size:,} ids, {found.digest[:16]}"),
        ("verified by", f"{found.rung}, mode {found.mode}"),
        ("why no faster", found.why),
        ("self-test", f"{found.checks:,} candidates agree" if found.checks else ""),
        ("tables", f"{found.build_seconds:.2f} s to build, {found.load_seconds:.2f} s to load"),
        ("kept in", str(found.tables)),
        ("special", f"{found.special:,} ids that no text gives"),
        ("partial", f"{found.partial:,} tokens that are no whole characters"),
        ("rewritten", f"{found.rewritten:,} tokens whose text the normaliser changes"),
        ("unreachable", f"{len(found.unreachable):,} other tokens that no text gives"),
        ("missing bytes", f"{len(found.missing_bytes)} of 256"),
        ("hazards", f"{len(found.hazards):,} added tokens that text can spell"),
    ):
        if value:
            grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    return grid


def _hazards(found: Audit) -> Table | str:
    if not found.hazards:
        return ""
    table = Table("hazard", "id", "what text that spells it becomes", box=None, pad_edge=False)
    for hazard in found.hazards[:_SHOWN]:
        meaning = "a control token" if hazard.special else "that token, whatever stands around it"
        table.add_row(Text(streams.printable(hazard.text)), str(hazard.token), meaning)
    return _and_more(table, len(found.hazards))


def _unreachable(found: Audit) -> Table | str:
    if not found.unreachable:
        return ""
    table = Table("unreachable", "id", "read as", box=None, pad_edge=False)
    for token in found.unreachable[:_SHOWN]:
        read_as = " ".join(map(str, token.read_as))
        table.add_row(Text(streams.printable(repr(token.text))), str(token.token), read_as)
    return _and_more(table, len(found.unreachable))


def _and_more(table: Table, count: int) -> Table:
    if count > _SHOWN:
        table.add_row(f"and {count - _SHOWN:,} more: --json")
    return table
