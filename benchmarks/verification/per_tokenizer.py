"""Measure each tokenizer in turn: what is skipped, what an interruption leaves, how a run ends."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from rich.table import Table

import ticore
from benchmarks._harness.progress import messages
from benchmarks._harness.report import Plot, publish, results
from benchmarks._harness.tables import write_json
from benchmarks._harness.types import JsonObject

from .tokenizer_sources import TokenizerSource, tokenizer_sources

Measure = Callable[[TokenizerSource], Iterable[JsonObject]]
"""The rows of one tokenizer. A row may be completed after it was given."""


def measure_each(
    options: argparse.Namespace, report: JsonObject, name: str, measure: Measure
) -> list[JsonObject]:
    """Measure all tokenizers until Ctrl-C.

    Args:
        options: of the command line.
        report: gets the rows under `name`, reasons of tokenizers that cannot be measured under
            `skipped`, and `complete`. It is written to `--json` after each tokenizer.
        name: of the rows.
        measure: measures one tokenizer.

    Returns:
        The rows.
    """
    rows: list[JsonObject] = []
    report |= {name: rows, "skipped": {}, "complete": False}
    try:
        for source in tokenizer_sources(options.tokenizer, options.data):
            count = len(rows)
            try:
                for row in measure(source):
                    rows.append(row)
            except ticore.TicoreError as error:
                del rows[count:]
                report["skipped"][source.name] = str(error)
            if options.json is not None:
                write_json(options.json, report)
        report["complete"] = True
    except KeyboardInterrupt:
        messages.print("interrupted; this is what was measured until then")
    return rows


def finish(
    options: argparse.Namespace,
    report: JsonObject,
    rows: list[JsonObject],
    tables: Iterable[Table],
    plot: Plot | None = None,
) -> int:
    """Publish a report and say what was skipped.

    Returns:
        The exit status: 1 where nothing was measured.
    """
    for name, reason in report["skipped"].items():
        results.print(f"{name} was skipped: {reason}", markup=False)
    status = publish(options, report, rows, tables, plot if rows else None)
    return status or (0 if rows else 1)
