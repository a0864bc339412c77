"""The options of commands that look at each row of large files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from ..corpus import EXECUTORS, Scan
from .options import option

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
