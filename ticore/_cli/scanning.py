"""Scans of many files, one after another, for commands that look at each row."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple

from ..corpus import Scan
from ..corpus._base import CountedTask, ScanSummary, Summary_co
from ..corpus._columns import Columns
from ..corpus._saved_batches import forget
from ..corpus._scan import opened_corpus, scan_one
from ..errors import InputFileError
from . import streams
from .scan_options import ScanOptions
from .scan_progress import scan_progress
from .scan_sources import paired
from .usage import wrong_settings_are_wrong_usage


class ScannedFile(NamedTuple, Generic[Summary_co]):
    """A file that is finished.

    Attributes:
        scan: its source and its output.
        found: the summary of its rows.
        seconds: how long it took.
    """

    scan: Scan
    found: Summary_co
    seconds: float


def scan_files(
    sources: Sequence[Path],
    columns: str | Columns,
    task: CountedTask[Summary_co],
    options: ScanOptions,
    doing: str,
    what: str = "detected",
) -> Iterator[ScannedFile[Summary_co]]:
    """Scan one file after another. All are looked at before the first is scanned.

    If this is interrupted, the same call goes on with the file that it was scanning.

    Args:
        sources: the files, or folders and patterns, see `scan_sources`.
        columns: what to read of each row.
        task: what is done with each row.
        options: how to scan.
        doing: shown beside the progress, such as "looking".
        what: stands in the names of outputs, see `ticore.corpus.default_output`.

    Raises:
        UsageError: the options do not fit the files.
        TicoreError: as `ticore.corpus.scan`.
    """
    given = options.given()
    running = {name: given.pop(name) for name in ("executor", "workers") if name in given}
    output = given.pop("output", None)
    with wrong_settings_are_wrong_usage():
        pairs = paired(sources, output, task.result._fields, what)
        scans = [Scan(each.source, columns, each.output, **given) for each in pairs]
        are_many = len(scans) > 1
        if are_many:
            for each in scans:  # before hours of work, and not when its turn comes
                opened_corpus(each, task)
    for each in scans:
        began = time.perf_counter()
        with (
            wrong_settings_are_wrong_usage(),
            scan_progress(doing, each.batch_size) as progress,
        ):
            found = scan_one(
                each, task, progress=progress, tell=tell, one_of_many=are_many, **running
            )
        yield ScannedFile(each, found, time.perf_counter() - began)
    if are_many:
        for each in scans:
            forget(each.output)


def require_a_result(found: ScanSummary, what: str) -> None:
    """Raises InputFileError if there are rows, and each has an error: no `what`."""
    if found.errors == found.rows > 0:
        raise InputFileError(f"no {what}; the first: {found.first_error}")


def tell(sentence: str) -> None:
    """Show a sentence of a scan on standard error."""
    streams.note(f"ticore: {sentence}")


def errors_said(found: ScanSummary) -> str:
    """How many rows have an error, and the first of them."""
    return f"{found.errors:,}" + (f"; the first: {found.first_error}" if found.errors else "")


def json_line(value: object) -> bytes:
    r"""One JSON value on a line; what is not Unicode, in a file's name, becomes an escape.

    >>> json_line("é\udcff")
    b'"\xc3\xa9\\udcff"\n'
    """
    return json_format.dumps(value, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
