"""`ticore audit`: what a tokenizer does that may surprise its user."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from .._support.visible import visible, visible_token
from ..consistency import Audit, Mode
from ..consistency import audit as examine
from ..consistency._files import notes_on_files
from ..interfaces import Tokenizer
from ..registry import load_model, load_tokenizer
from ..report._tables import facts_grid, plain_table
from . import streams
from .options import Json, file_option
from .settings import DEFAULT_MODEL
from .usage import UsageError

_SHOWN = 12  # findings of one kind in the table; --json has all
_TOKENIZER, _TEXT = "Tokenizer", "Text"  # sections of the help


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
    text: Annotated[
        Path | None,
        file_option(
            "Count how many tokens of the UTF-8 text in this file each mode would refuse; "
            "- means standard input.",
            panel=_TEXT,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Also say how many bits the refused tokens have under this model, such as "
            "torch:DIRECTORY. Its tokenizer must be the one that is examined.",
            rich_help_panel=_TEXT,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Report what a tokenizer does that may surprise you.

    The report says how token lists are verified, which tokens no text is encoded to, and which
    texts become special tokens; given a file, also how many tokens of a real text a writer could
    not write in each mode. The exit status is 0 whatever is found.
    """
    if mode not in get_args(Mode):
        raise UsageError(
            f"--mode: expected one of {', '.join(get_args(Mode))}, found {visible(mode)}"
        )
    if model is not None and text is None:
        raise UsageError("--model: expected --text FILE with it, found no text")
    content = "" if text is None else streams.decode_text(*streams.read_argument(text, "the text"))
    opened = load_tokenizer(tokenizer)
    scores = None if model is None else load_model(model)
    with streams.progress_bar("examining") as progress:
        found = examine(
            opened, mode=cast(Mode, mode), text=content, model=scores, progress=progress
        )
    found = replace(found, notes=notes_on_files(tokenizer, opened))
    if json:
        tables = None if found.tables is None else str(found.tables)
        return streams.write_json(asdict(found) | {"tables": tables})
    streams.show(
        _overview(found),
        *_notes(found),
        *_rejections(found),
        *_hazards(found),
        *_unreachable(found, opened),
    )


def _overview(found: Audit) -> Table:
    facts = (
        ("tokenizer", f"{found.kind}, {found.vocab_size:,} ids, {found.digest[:16]}"),
        ("verified by", f"{found.method}, mode {found.mode}"),
        ("why no faster", _why(found)),
        ("loses", found.losses),
        ("self-test", f"{found.checks:,} candidates agree" if found.checks else ""),
        ("tables", f"{found.build_seconds:.2f} s to build, {found.load_seconds:.2f} s to load"),
        ("cached in", str(found.tables or "nowhere, without a home directory; set TICORE_CACHE")),
        ("never", f"{found.never:,} ids ({found.never_share:.2%}) that no text is encoded to"),
        ("special", f"{found.special:,} ids of control tokens, or of none"),
        ("partial", _partial(found)),
        ("spare", f"{found.spare:,} byte tokens that are never used" if found.spare else ""),
        ("rewritten", _rewritten(found)),
        ("unreachable", f"{len(found.unreachable):,} other tokens that no text is encoded to"),
        ("respelled", _respelled(found)),
        ("alone", f"{found.alone:,} tokens become other tokens if decoded by themselves"),
        ("missing bytes", f"{len(found.missing_bytes)} of 256"),
        ("hazards", _count_of_hazards(found)),
    )
    return facts_grid(fact for fact in facts if fact[1])


def _why(found: Audit) -> str:
    """Why no faster method is used; that there is no structure is said once."""
    if found.no_structure_reason:
        return f"its algorithm is not known exactly: {found.no_structure_reason}"
    return found.why


def _partial(found: Audit) -> str:
    never = f", {found.broken:,} of which no text is encoded to" if found.broken else ""
    return f"{found.partial:,} tokens that are not whole characters{never}"


def _respelled(found: Audit) -> str:
    total = found.spare + len(found.unreachable)
    if not total:
        return ""
    return (
        f"{total:,} of these: their text is encoded to one other token ({found.renamed:,}) or to "
        f"several ({total - found.renamed:,})"
    )


def _rewritten(found: Audit) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.rewritten.items()))
    total = sum(found.rewritten.values())
    return f"{total:,} tokens whose text the normalizer changes" + (f": {kinds}" if kinds else "")


def _count_of_hazards(found: Audit) -> str:
    if found.hazards is None:
        return "not known, since the structure is not known: text may spell an added token"
    return f"{len(found.hazards):,} added tokens that text can spell"


def _notes(found: Audit) -> list[RenderableType]:
    lines = [Text(f"- {visible(note)}") for note in found.notes]
    return ["", Text("other files and readers", style="bold"), *lines] if lines else []


def _rejections(found: Audit) -> list[RenderableType]:
    """What each mode refuses of the text."""
    text = found.rejections
    if text is None:
        return []
    with_bits = text.bits is not None
    table = plain_table("mode", "refuses of the text", *["of its bits"] * with_bits)
    for mode in get_args(Mode):
        cells = [mode, f"{_share(text.refused[mode], text.tokens)} of {text.tokens:,} tokens"]
        if text.bits is not None and text.refused_bits is not None:
            cells.append(f"{_share(text.refused_bits[mode], text.bits)} of {text.bits:,.0f}")
        table.add_row(*map(Text, cells))
    lines: list[RenderableType] = ["", table]
    if text.changed:
        lines.append(
            f"{text.changed:,} of its passages are read back as other tokens than they have"
        )
    if found.method == "retokenize":
        lines.append(f"of the first {text.characters:,} characters: each token takes milliseconds")
    if not with_bits:
        lines.append("in bits: --model PLACE")
    return lines


def _share(part: float, whole: float) -> str:
    return f"{part:,.0f} ({part / whole if whole else 0:.2%})"


def _hazards(found: Audit) -> list[RenderableType]:
    if not found.hazards:
        return []
    table = plain_table("hazard", "id", "what its text becomes")
    for hazard in found.hazards[:_SHOWN]:
        meaning = "a special token" if hazard.special else "that token, in any context"
        if hazard.within:
            meaning += f"; inside {', '.join(map(visible, hazard.within))}"
        table.add_row(Text(visible(hazard.text)), str(hazard.token), Text(meaning))
    return ["", *_and_more(table, len(found.hazards))]


def _unreachable(found: Audit, tokenizer: Tokenizer) -> list[RenderableType]:
    if not found.unreachable:
        return []
    table = plain_table("unreachable", "id", "read as", "ids")
    for token in found.unreachable[:_SHOWN]:
        parts = " ".join(visible_token(tokenizer.token_bytes(i)) for i in token.read_as)
        ids = " ".join(map(str, token.read_as))
        table.add_row(
            Text(visible_token(token.text.encode())), str(token.token), Text(parts), Text(ids)
        )
    return ["", *_and_more(table, len(found.unreachable))]


def _and_more(table: Table, count: int) -> list[RenderableType]:
    return [table, *([f"and {count - _SHOWN:,} more: --json"] if count > _SHOWN else [])]
