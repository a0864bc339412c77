"""Tables: for a terminal, and as Markdown, JSON and Parquet files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from ticore._support.atomic_files import write_atomically
from ticore._support.installing import require_module

from .types import JsonObject


def text_table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """An empty table for a terminal.

    Args:
        title: the line above it.
        left: the headings of columns of words.
        right: the headings of columns of numbers, after them.
    """
    table = Table(title=title, box=box.SIMPLE_HEAD)
    for heading in left:
        table.add_column(heading, no_wrap=True)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def without_repeats(cell: str, cell_above: str) -> str:
    """The text of a cell, empty where the cell above it says the same."""
    return "" if cell == cell_above else cell


def write_markdown(file: Path, tables: Iterable[Table]) -> None:
    """Write the tables that have rows as Markdown. Their folder is created."""
    parts = []
    for table in tables:
        if not table.row_count:
            continue
        columns = table.columns
        shown = markdown_table(
            [str(column.header) for column in columns],
            [column.justify == "right" for column in columns],
            [list(map(str, cells)) for cells in zip(*(c.cells for c in columns), strict=True)],
        )
        parts.append(f"{table.title}\n\n{shown}\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, "\n".join(parts).encode())


def markdown_table(
    headings: Sequence[str], are_numbers: Sequence[bool], rows: Iterable[Sequence[str]]
) -> str:
    """A table in Markdown that shows each cell as it is, whatever the cell holds.

    Args:
        headings: of the columns.
        are_numbers: whether a column holds numbers, which stand to the right.
        rows: their cells.
    """
    marks = ["---:" if is_number else "---" for is_number in are_numbers]
    lines = [headings, marks, *rows]
    return "\n".join(f"| {' | '.join(map(_in_markdown, line))} |" for line in lines)


def _in_markdown(cell: str) -> str:
    r"""The text of a cell without its meaning in Markdown; a line end is shown as `\n`."""
    return re.sub(r"[\\|<>*_`\[\]]", r"\\\g<0>", cell.replace("\n", "\\n"))


def write_json(file: Path, report: JsonObject) -> None:
    """Write a report as one JSON object. Its folder is created."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps(report, ensure_ascii=False, indent=1).encode())


def write_parquet(file: Path, rows: Sequence[JsonObject], description: JsonObject) -> None:
    """Write rows as a Parquet file. Its folder is created.

    Args:
        file: the file to write.
        rows: objects. A field of an object inside a row becomes a column, such as
            `writing.seconds`.
        description: stored as JSON in the file's metadata, under the key `ticore`.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OutputFileError: the file cannot be written; an earlier one stays as it was.
    """
    arrow = require_module("pyarrow", "data", "a Parquet file")
    parquet = require_module("pyarrow.parquet", "data", "a Parquet file")
    flat = [flattened(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    table = arrow.table({name: [row.get(name) for row in flat] for name in names})
    metadata = {"ticore": json.dumps(description, ensure_ascii=False)}
    content = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), content)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content.getvalue())


def flattened(row: JsonObject) -> JsonObject:
    """A row without objects inside it.

    >>> flattened({"index": 1, "writing": {"seconds": 2.0}})
    {'index': 1, 'writing.seconds': 2.0}
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": each for inner, each in flattened(value).items()}
        else:
            flat[name] = value
    return flat
