"""What commands do with files of many rows: their options, and the summary of `ticore detect`."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from ..corpus import EXECUTORS, AnyTask, DriftSummary, Scan, Summary, Task
from ..corpus._saved_batches import forget
from ..corpus._scan import opened_corpus, scan_one
from ..errors import InputFileError
from ..report._dependence import DEPENDENT_TEXTS
from . import streams
from .configurations import schemes_of
from .options import option
from .scan_progress import scan_progress
from .scan_sources import paired
from .usage import wrong_settings_are_wrong_usage

_FEWEST = 0.5  # rows by chance, for a band without finds to be worth a line
SCANS = "Files of many texts"  # a section of the help

OutputFile = Annotated[
    str | None,  # a path has no slash at its end, which says that it is a folder
    option(
        "FILE",
        "Write rows and results here, in the format of the name's ending, or into this folder; "
        "otherwise beside FILE.",
        "--output",
        "-o",
        panel=SCANS,
    ),
]
Executor = Annotated[
    str | None,
    option(
        "NAME",
        f"What does the work: {', '.join(EXECUTORS)}.",
        "--executor",
        "--engine",  # its old name, which was also that of engines such as vLLM
        panel=SCANS,
        default="processes",
    ),
]
Workers = Annotated[
    int | None,
    option("N", "How many workers.", panel=SCANS, default="one for each core"),
]
BatchSize = Annotated[
    int | None,
    option("N", "Rows that a worker gets at a time.", panel=SCANS, default=Scan.batch_size),
]
Limit = Annotated[int | None, option("N", "Look at the first N rows only.", panel=SCANS)]
ResultsOnly = Annotated[
    bool,
    typer.Option(
        "--results-only",
        help="Write the results without the columns of FILE, one per row in their order.",
        rich_help_panel=SCANS,
    ),
]


@dataclass(frozen=True)
class ScanOptions:
    """What was given on the command line; None where nothing was given."""

    output: str | Path | None
    executor: str | None
    workers: int | None
    batch_size: int | None
    limit: int | None
    results_only: bool = False

    def given(self) -> dict[str, Any]:
        """The options that were given, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }


def scan_files(
    sources: Sequence[Path], column: str, task: Task | AnyTask, options: ScanOptions, json: bool
) -> None:
    """Scan one file after another, and show a summary of each, and of all.

    Args:
        sources: the files, or folders and patterns, see `scan_sources`.
        column: where the texts are.
        task: what is looked for.
        options: how to scan.
        json: show the summaries as JSON.

    Raises:
        UsageError: the options do not fit the files.
        TicoreError: as `ticore.corpus.scan`.
    """
    given = options.given()
    running = {name: given.pop(name) for name in ("executor", "workers") if name in given}
    output = given.pop("output", None)
    with wrong_settings_are_wrong_usage():
        pairs = paired(sources, output)
        scans = [Scan(each.source, column, each.output, **given) for each in pairs]
        are_many = len(scans) > 1
        if are_many:
            for each in scans:  # before hours of work, and not when its turn comes
                opened_corpus(each, task)
    found, started = [], time.perf_counter()
    for each in scans:
        began = time.perf_counter()
        with (
            wrong_settings_are_wrong_usage(),
            scan_progress("looking", each.batch_size) as progress,
        ):
            found.append(
                scan_one(each, task, progress=progress, tell=tell, one_of_many=are_many, **running)
            )
        written = ("written", str(each.output))
        about = {"file": str(each.source), "output": str(each.output)}
        _show(about, [written], found[-1], task, time.perf_counter() - began, json)
    if are_many:
        for each in scans:
            forget(each.output)
    if are_many and not json:
        _show({}, [("all files", f"{len(scans):,}")], Summary.of(found), task, _since(started))
    for warning in _warnings(task):
        streams.note(f"ticore: {warning}")
    require_a_result(Summary.of(found), "text could be scored")


def require_a_result(found: Summary | DriftSummary, what: str) -> None:
    """Raises InputFileError if there are rows, and each has an error: no `what`."""
    if found.errors == found.rows > 0:
        raise InputFileError(f"no {what}; the first: {found.first_error}")


def _since(started: float) -> float:
    return time.perf_counter() - started


def _warnings(task: Task | AnyTask) -> list[str]:
    """What a reader of the results has to know of how they depend on each other."""
    schemes = {task.scheme} if isinstance(task, Task) else schemes_of(task.configurations)
    return [DEPENDENT_TEXTS] if "unigram" in schemes else []


def tell(sentence: str) -> None:
    """Show a sentence of a scan on standard error."""
    streams.note(f"ticore: {sentence}")


def _show(
    about: Mapping[str, str],
    first: Sequence[tuple[str, str]],
    found: Summary,
    task: Task | AnyTask,
    seconds: float,
    json: bool = False,
) -> None:
    if json:
        shown = {**about, **found.to_dict(), **_target(task), "warnings": _warnings(task)}
        return streams.write_bytes(json_line(shown | {"seconds": seconds}))
    grid = Table.grid(padding=(0, 2))
    pace = f", {found.rows / seconds:,.0f} per second" if seconds and found.rows else ""
    for name, value in (
        *first,
        ("rows", f"{found.rows:,} in {seconds:.1f} s{pace}"),
        ("watermarked", f"{found.watermarked:,}"),
        ("in part", f"{found.in_part:,}"),
        ("none found", f"{found.without:,}"),
        ("errors", errors_said(found)),
        ("by chance", _by_chance(found, task.fpr)),
        *_facts(task),
    ):
        grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    streams.show(grid, *_bands(found))


def errors_said(found: Summary | DriftSummary) -> str:
    """How many rows have an error, and the first of them."""
    return f"{found.errors:,}" + (f"; the first: {found.first_error}" if found.errors else "")


def _by_chance(found: Summary, fpr: float) -> str:
    """How many of the finds are false, as far as chance goes."""
    (band,) = (band for band in found.bands if band.threshold == fpr)
    said = f"at most {band.by_chance:.2g} expected to be called watermarked without one"
    if band.false_share is None:
        return said
    return f"{said}; about {band.false_share:.2g} of the finds"


def _bands(found: Summary) -> list[Table]:
    """A table of the bands with finds, or that could have some."""
    shown = [band for band in found.bands if band.found or band.by_chance >= _FEWEST]
    if not shown:
        return []
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("p-value at most", "rows", "by chance, at most", "false among them, about"):
        table.add_column(name, justify="right")
    for band in shown:
        share = "" if band.false_share is None else f"{band.false_share:.2g}"
        table.add_row(f"{band.threshold:g}", f"{band.found:,}", f"{band.by_chance:,.3g}", share)
    return [table]


def _facts(task: Task | AnyTask) -> list[tuple[str, str]]:
    if isinstance(task, Task):
        return task.target.facts()
    return [
        ("entries", f"{len(task.configurations):,}, all those of the list of configurations"),
        ("tokenizer", task.tokenizer),
        ("threshold", f"{task.fpr:g} of texts without a watermark may be called watermarked"),
    ]


def _target(task: Task | AnyTask) -> dict[str, Any]:
    if isinstance(task, Task):
        return task.target.to_dict()
    return {"entries": len(task.configurations), "tokenizer": task.tokenizer, "fpr": task.fpr}


def json_line(value: object) -> bytes:
    r"""One JSON value on a line; what is not Unicode, in a file's name, becomes an escape.

    >>> json_line("é\udcff")
    b'"\xc3\xa9\\udcff"\n'
    """
    return json_format.dumps(value, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
