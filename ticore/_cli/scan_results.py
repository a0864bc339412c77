"""What `ticore detect` shows of a scan: a summary of each file, and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from ..corpus import AnyTask, Summary, Task
from ..report._dependence import DEPENDENT_TEXTS
from ..report._tables import facts_grid, plain_table
from ..watermarking._configurations import schemes_of
from . import streams
from .scan_options import ScanOptions
from .scanning import errors_said, json_line, require_a_result, scan_files

_FEWEST = 0.5  # rows by chance, for a band without finds to be worth a line


def detect_in_files(
    sources: Sequence[Path], column: str, task: Task | AnyTask, options: ScanOptions, json: bool
) -> None:
    """Scan files, and show a summary of each, and of all.

    Args:
        sources, task, options: as for `scan_files`.
        column: where the texts are.
        json: show the summaries as JSON.

    Raises:
        UsageError: the options do not fit the files.
        TicoreError: as `ticore.corpus.scan`.
    """
    found, seconds = [], 0.0
    for each in scan_files(sources, column, task, options, "looking"):
        found.append(each.found)
        seconds += each.seconds
        written = ("written", str(each.scan.output))
        about = {"file": str(each.scan.source), "output": str(each.scan.output)}
        _show(about, [written], each.found, task, each.seconds, json)
    if len(found) > 1 and not json:
        _show({}, [("all files", f"{len(found):,}")], Summary.of(found), task, seconds)
    for warning in _warnings(task):
        streams.note(f"ticore: {warning}")
    require_a_result(Summary.of(found), "text could be scored")


def _warnings(task: Task | AnyTask) -> list[str]:
    """What a reader of the results has to know of how they depend on each other."""
    schemes = {task.scheme} if isinstance(task, Task) else schemes_of(task.configurations)
    return [DEPENDENT_TEXTS] if "unigram" in schemes else []


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
    pace = f", {found.rows / seconds:,.0f} per second" if seconds and found.rows else ""
    facts = [
        *first,
        ("rows", f"{found.rows:,} in {seconds:.1f} s{pace}"),
        ("watermarked", f"{found.watermarked:,}"),
        ("in part", f"{found.in_part:,}"),
        ("none found", f"{found.without:,}"),
        ("errors", errors_said(found)),
        ("by chance", _by_chance(found, task.fpr)),
        *_facts(task),
    ]
    streams.show(facts_grid(facts), *_bands(found))


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
    table = plain_table()
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
