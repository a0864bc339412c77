"""`ticore audit`: what a tokenizer does that may surprise its user."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, cast, get_args

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..consistency import Audit, Mode
from ..consistency import audit as examine
from ..interfaces import Tokenizer
from ..registry import load_tokenizer
from ..report._visible import visible, visible_token
from . import streams
from .options import Json
from .settings import DEFAULT_MODEL
from .usage import UsageError

_SHOWN = 12  # findings of one kind in the table; --json has all
_TOKENIZER = "Tokenizer"  # a section of the help


def audit(
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a bundled model, or BACKEND:LOCATION, such as "
            "sentencepiece:tokenizer.model.",
            rich_help_panel=_TOKENIZER,
        ),
    ] = DEFAULT_MODEL,
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Which token lists a text may begin with: {', '.join(get_args(Mode))}.",
            rich_help_panel=_TOKENIZER,
        ),
    ] = "prefix",
    json: Json = False,
) -> None:
    """Report what a tokenizer does that may surprise you.

    The report says how token lists are verified, which tokens no text is encoded to, and which
    texts become special tokens. The exit status is 0 whatever is found.
    """
    if mode not in get_args(Mode):
        raise UsageError(
            f"--mode: expected one of {', '.join(get_args(Mode))}, found {streams.printable(mode)}"
        )
    opened = load_tokenizer(tokenizer)
    with streams.progress_bar("examining") as progress:
        found = examine(opened, mode=cast(Mode, mode), progress=progress)
    if json:
        return streams.write_json(asdict(found) | {"tables": str(found.tables)})
    streams.show(_overview(found), *_hazards(found), *_unreachable(found, opened))


def _overview(found: Audit) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, value in (
        ("tokenizer", f"{found.kind}, {found.vocab_size:,} ids, {found.digest[:16]}"),
        ("verified by", f"{found.method}, mode {found.mode}"),
        ("why no faster", found.why),
        ("loses", found.losses),
        ("self-test", f"{found.checks:,} candidates agree" if found.checks else ""),
        ("tables", f"{found.build_seconds:.2f} s to build, {found.load_seconds:.2f} s to load"),
        ("cached in", str(found.tables)),
        ("special", f"{found.special:,} ids that no text is encoded to"),
        ("partial", f"{found.partial:,} tokens that are not whole characters"),
        ("spare", f"{found.spare:,} byte tokens that are never used" if found.spare else ""),
        ("rewritten", _rewritten(found)),
        ("unreachable", f"{len(found.unreachable):,} other tokens that no text is encoded to"),
        ("alone", f"{found.alone:,} tokens become other tokens if decoded by themselves"),
        ("missing bytes", f"{len(found.missing_bytes)} of 256"),
        ("hazards", _count_of_hazards(found)),
    ):
        if value:
            grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    return grid


def _rewritten(found: Audit) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.rewritten.items()))
    total = sum(found.rewritten.values())
    return f"{total:,} tokens whose text the normalizer changes" + (f": {kinds}" if kinds else "")


def _count_of_hazards(found: Audit) -> str:
    if found.hazards is None:
        return "not known, since the structure is not known: text may spell an added token"
    return f"{len(found.hazards):,} added tokens that text can spell"


def _hazards(found: Audit) -> list[RenderableType]:
    if not found.hazards:
        return []
    table = _table("hazard", "id", "what its text becomes")
    for hazard in found.hazards[:_SHOWN]:
        meaning = "a special token" if hazard.special else "that token, in any context"
        if hazard.within:
            meaning += f"; inside {', '.join(map(visible, hazard.within))}"
        table.add_row(Text(visible(hazard.text)), str(hazard.token), Text(meaning))
    return ["", *_and_more(table, len(found.hazards))]


def _unreachable(found: Audit, tokenizer: Tokenizer) -> list[RenderableType]:
    if not found.unreachable:
        return []
    table = _table("unreachable", "id", "read as", "ids")
    for token in found.unreachable[:_SHOWN]:
        parts = " ".join(visible_token(tokenizer.token_bytes(i)) for i in token.read_as)
        ids = " ".join(map(str, token.read_as))
        table.add_row(
            Text(visible_token(token.text.encode())), str(token.token), Text(parts), Text(ids)
        )
    return ["", *_and_more(table, len(found.unreachable))]


def _table(*titles: str) -> Table:
    return Table(*titles, box=None, pad_edge=False, header_style="bold")


def _and_more(table: Table, count: int) -> list[RenderableType]:
    return [table, *([f"and {count - _SHOWN:,} more: --json"] if count > _SHOWN else [])]
