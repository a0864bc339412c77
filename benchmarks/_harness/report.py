"""What a benchmark does with its results: print tables, write files, draw a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ticore.errors import SettingsError

from .environment import environment
from .tables import write_json, write_markdown, write_parquet
from .types import JsonObject

Plot = Callable[[JsonObject, Path], None]
"""Draws a report into a file."""

_WIDTH = 210  # columns of a table where no terminal says how wide it is

results = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
"""Where results are printed."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


def new_report(settings: JsonObject, *, complete: bool, code: str | None = None) -> JsonObject:
    """A report without results: environment and settings.

    Args:
        settings: of the run.
        complete: whether all that was asked for was measured.
        code: the digest of the code that samples depend on.
    """
    return environment() | {"complete": complete, "code": code, "settings": settings}


def publish(
    options: argparse.Namespace,
    report: JsonObject,
    rows: Sequence[JsonObject],
    tables: Iterable[Table],
    plot: Plot | None = None,
) -> int:
    """Print the tables, and write the files that `options` ask for.

    Args:
        options: of the command line; see `cli.command`.
        report: what `--json` writes.
        rows: what `--parquet` writes, one row per measurement.
        tables: what `--markdown` writes as well. Those without rows are left out.
        plot: draws what `--plot` writes.

    Returns:
        The exit status.
    """
    shown = [table for table in tables if table.row_count]
    for table in shown:
        _print(table)
    if options.markdown is not None:
        write_markdown(options.markdown, shown)
    if options.json is not None:
        write_json(options.json, report)
    if options.parquet is not None:
        without_results = ("command", "time", "machine", "commit", "versions", "settings")
        write_parquet(options.parquet, rows, {name: report[name] for name in without_results})
    if plot is not None and options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
        plot(report, options.plot)
    return 0 if report["complete"] else INTERRUPTED


def _print(table: Table) -> None:
    """Print a table. Its title and caption may be wider than its columns."""
    title, caption = table.title, table.caption
    table.title = table.caption = None
    results.print(title, style="bold")
    results.print(table)
    if caption is not None:
        results.print(caption, end="\n\n")
    table.title, table.caption = title, caption


def nothing_to_draw(reason: str) -> SettingsError:
    """The error of a plot that would be empty."""
    return SettingsError(f"there is nothing to draw: {reason}")
