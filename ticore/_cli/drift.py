"""`ticore drift`: how often and why the ids of logged rollouts are read back as others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table
from rich.text import Text

from .._support.atomic_files import write_atomically
from ..consistency import Specials
from ..consistency._boundaries import special_name
from ..corpus import (
    DriftExample,
    DriftSummary,
    DriftTask,
    RolloutColumns,
    Scan,
    default_output,
    scan_drift,
)
from ..registry import load_tokenizer
from ..report import ShownDrift, drift_page
from . import streams
from .options import OUTPUT, Json, file_option, option
from .scan_progress import scan_progress
from .scanning import BatchSize, Executor, Limit, OutputFile, ScanOptions, Workers, json_line, tell
from .settings import DEFAULT_MODEL
from .usage import UsageError
from .watermark_options import wrong_settings_are_wrong_usage

_INPUT = "Rollouts"
_SHOWN = 5  # examples in the terminal


def drift(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            readable=False,
            help="Rollouts: JSON lines or Parquet, with a list of token ids in each row.",
            show_default=False,
        ),
    ],
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="The tokenizer: the name of a bundled model, or BACKEND:LOCATION, such as "
            "tokenizers:tokenizer.json.",
            rich_help_panel=_INPUT,
        ),
    ] = DEFAULT_MODEL,
    ids: Annotated[
        str | None, option("NAME", "The column with the ids.", panel=_INPUT, default="ids")
    ] = None,
    reread: Annotated[
        str | None,
        option(
            "NAME",
            "The column with what was read again: the ids of the trainer, or the text that the "
            "template wrote. Otherwise the tokenizer reads the text of the ids.",
            panel=_INPUT,
        ),
    ] = None,
    specials: Annotated[
        Specials,
        typer.Option(
            metavar="HOW",
            help="What the receiver does with special tokens: keep them (gaps), find them in the "
            "text (text), or do without them (refuse).",
            rich_help_panel=_INPUT,
        ),
    ] = "gaps",
    html: Annotated[
        Path | None,
        file_option("Write a web page: rates, causes and the worst rollouts.", panel=OUTPUT),
    ] = None,
    json: Json = False,
    output: OutputFile = None,
    executor: Executor = None,
    workers: Workers = None,
    batch_size: BatchSize = None,
    limit: Limit = None,
) -> None:
    """Find rollouts whose token ids change, and say why.

    The text of each list of ids is read again, and compared with the ids.
    The file is written again with the results beside each row, in columns that begin with
    drift_. If this is interrupted, the same command continues it. A row without a list of ids gets
    an error there. The exit status is 0 whether ids change or not.
    """
    columns = RolloutColumns(ids or "ids", reread)
    given = ScanOptions(output, executor, workers, batch_size, limit).given()
    running = {name: given.pop(name) for name in ("executor", "workers") if name in given}
    task = DriftTask(tokenizer, specials)
    if reread is not None and specials != "gaps":
        raise UsageError("give --reread or --specials, not both")
    with wrong_settings_are_wrong_usage():
        scanned = Scan(file, columns, **{"output": default_output(file, "drift")} | given)
    started = time.perf_counter()
    with (
        wrong_settings_are_wrong_usage(),
        scan_progress("comparing", scanned.batch_size) as progress,
    ):
        found = scan_drift(scanned, task, progress=progress, tell=tell, **running)
    facts = _facts(scanned, task, found, time.perf_counter() - started)
    if html is not None:
        opened = load_tokenizer(tokenizer)
        title = f"Drift in {file.name}"
        examples = [_shown(one) for one in found.worst if one.result.drift_ids is not None]
        name = partial(special_name, opened)
        page = drift_page(title, facts, found.causes, examples, opened.token_bytes, name)
        write_atomically(html, page.encode())
    if json:
        about = {"file": str(file), "output": str(scanned.output), "tokenizer": tokenizer}
        return streams.write_bytes(json_line(about | found.to_dict()))
    streams.show(_table(facts, found))


def _facts(scanned: Scan, task: DriftTask, found: DriftSummary, seconds: float) -> dict[str, str]:
    share = f"; {found.differing / found.tokens:.3%} of tokens" if found.tokens else ""
    return {
        "written": str(scanned.output),
        "rows": f"{found.rows:,}, {found.tokens:,} tokens in {seconds:.1f} s",
        "drifted": f"{found.drifted:,}, {found.rate:.2%} of rows{share}",
        "consistent": f"{found.consistent:,}",
        "errors": f"{found.errors:,}",
        "tokenizer": task.tokenizer,
    }


def _table(facts: Mapping[str, str], found: DriftSummary) -> Group:
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    for cause, count in found.causes.items():
        if count:
            grid.add_row(Text(cause, style="bold"), Text(f"{count:,}"))
    lines = [
        Text(streams.printable(f"row {one.row:,}: {_said(one)}")) for one in found.worst[:_SHOWN]
    ]
    return Group(grid, Text(""), *lines) if lines else Group(grid)


def _said(one: DriftExample) -> str:
    result = one.result
    if result.drift_ids is None:
        return f"unknown text at token {result.drift_at}"
    return (
        f"{result.drift_cause} at token {result.drift_at}: {result.drift_text!r} "
        f"[{result.drift_ids}], read as {result.drift_text_again!r} [{result.drift_again}]; "
        f"{one.differing} tokens differ"
    )


def _shown(one: DriftExample) -> ShownDrift:
    result: Any = one.result
    ids, again = ([*map(int, said.split())] for said in (result.drift_ids, result.drift_again))
    return ShownDrift(one.row, _said(one), result.drift_cause, ids, again)
