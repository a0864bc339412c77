"""What commands do with files of many rows: their options, and the summary of `ticore detect`."""

from __future__ import annotations

import json as json_format
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from rich.text import Text

from ..corpus import EXECUTORS, Scan, Summary, Task, default_output, scan
from ..watermarking import DetectionTarget
from . import streams
from .options import file_option, option
from .usage import UsageError
from .watermark_options import wrong_settings_are_wrong_usage

SCANS = "Files of many texts, with --column"  # a section of the help

OutputFile = Annotated[
    Path | None,
    file_option(
        "Write rows and results here, in the format of the name's ending; otherwise beside FILE.",
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


@dataclass(frozen=True)
class ScanOptions:
    """What was given on the command line; None where nothing was given."""

    output: Path | None
    executor: str | None
    workers: int | None
    batch_size: int | None
    limit: int | None

    def given(self) -> dict[str, Any]:
        """The options that were given, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def scan_files(
    sources: Sequence[Path], column: str, task: Task, options: ScanOptions, json: bool
) -> None:
    """Scan one file after another, and show a summary of each.

    Args:
        sources: the files.
        column: where the texts are.
        task: what is looked for.
        options: how to scan.
        json: show the summary as JSON.

    Raises:
        UsageError: the options do not fit the files.
        TicoreError: as `ticore.corpus.scan`.
    """
    if len(sources) > 1 and options.output is not None:
        raise UsageError("give one FILE with --output, or several without")
    given = options.given()
    running = {name: given.pop(name) for name in ("executor", "workers") if name in given}
    with wrong_settings_are_wrong_usage():
        scans = [Scan(s, column, **{"output": default_output(s)} | given) for s in sources]
    for each in scans:
        started = time.perf_counter()
        with wrong_settings_are_wrong_usage(), streams.progress_bar("looking") as progress:
            found = scan(each, task, progress=progress, tell=tell, **running)
        _show(each, found, task.target, time.perf_counter() - started, json)
    if task.scheme == "unigram":
        streams.note(
            "ticore: the false-positive rate holds over all keys; this key's one list may suit "
            "some texts more than others: see ticore check-key"
        )


def tell(sentence: str) -> None:
    """Show a sentence of a scan on standard error."""
    streams.note(f"ticore: {sentence}")


def _show(done: Scan, found: Summary, target: DetectionTarget, seconds: float, json: bool) -> None:
    if json:
        shown = {"file": str(done.source), "output": str(done.output), **asdict(found)}
        return streams.write_bytes(json_line(shown | target.to_dict() | {"seconds": seconds}))
    grid = Table.grid(padding=(0, 2))
    for name, value in (
        ("written", str(done.output)),
        ("rows", f"{found.rows:,} in {seconds:.1f} s"),
        ("watermarked", f"{found.watermarked:,}"),
        ("in part", f"{found.in_part:,}"),
        ("none found", f"{found.without:,}"),
        ("errors", f"{found.errors:,}"),
        *target.facts(),
    ):
        grid.add_row(Text(name, style="bold"), Text(streams.printable(value)))
    streams.show(grid)


def json_line(value: object) -> bytes:
    r"""One JSON value on a line; what is not Unicode, in a file's name, becomes an escape.

    >>> json_line("é\udcff")
    b'"\xc3\xa9\\udcff"\n'
    """
    return json_format.dumps(value, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
