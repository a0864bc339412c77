"""What `ticore drift` shows: the rates of all files and of each, the causes, the worst rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .._support.visible import visible
from ..consistency._boundaries import special_name
from ..corpus import DriftExample, DriftSummary, DriftTask
from ..registry import load_tokenizer
from ..report import ShownDrift, drift_page
from ..report._tables import facts_grid, plain_table
from .scanning import ScannedFile, errors_said

Scanned = Sequence[ScannedFile[DriftSummary]]
"""The files of a scan, at least one."""

_SHOWN = 5  # examples in the terminal


def drift_of(scanned: Scanned) -> DriftSummary:
    """What was found in all files."""
    if len(scanned) == 1:
        return scanned[0].found
    return DriftSummary.of({str(each.scan.source): each.found for each in scanned})


def shown_drift(scanned: Scanned, task: DriftTask) -> Group:
    """What the terminal shows."""
    found = drift_of(scanned)
    facts = list(_facts(scanned, found, task).items())
    facts += [(cause, f"{count:,}") for cause, count in found.causes.items() if count]
    parts: list[RenderableType] = [facts_grid(facts)]
    if len(scanned) > 1:
        parts += [Text(""), _files_table(scanned)]
    if found.worst:
        parts.append(Text(""))
    for one in found.worst[:_SHOWN]:
        place = f"row {one.row:,}" if one.file is None else f"{one.file}, row {one.row:,}"
        parts.append(Text(visible(f"{place}: {_said(one)}")))
    return Group(*parts)


def page_of_drift(scanned: Scanned, task: DriftTask) -> str:
    """The web page."""
    found, first = drift_of(scanned), scanned[0].scan.source
    tokenizer = load_tokenizer(task.tokenizer)
    title = f"Drift in {first.name if len(scanned) == 1 else f'{len(scanned):,} files'}"
    examples = [_shown(one) for one in found.worst if one.result.drift_ids is not None]
    rows = [_file_values(each) for each in scanned] if len(scanned) > 1 else []
    name = partial(special_name, tokenizer)
    facts = _facts(scanned, found, task)
    return drift_page(title, facts, found.causes, examples, tokenizer.token_bytes, name, rows)


def _facts(scanned: Scanned, found: DriftSummary, task: DriftTask) -> dict[str, str]:
    share = f"; {found.token_rate:.3%} of the tokens of both lists" if found.tokens else ""
    seconds = sum(each.seconds for each in scanned)
    outputs = [str(each.scan.output) for each in scanned]
    return {
        "written": outputs[0] if len(outputs) == 1 else f"{len(outputs):,} files",
        "rows": f"{found.rows:,}, {found.tokens:,} tokens in {seconds:.1f} s",
        "drifted": f"{found.drifted:,}, {found.rate:.2%} of rows{share}",
        "consistent": f"{found.consistent:,}",
        "errors": errors_said(found),
        "tokenizer": task.tokenizer,
    }


def _files_table(scanned: Scanned) -> Table:
    table = plain_table()
    for name in _file_values(scanned[0]):
        table.add_column(name, justify="left" if name == "file" else "right", overflow="fold")
    for each in scanned:
        table.add_row(*(Text(visible(said)) for said in _file_values(each).values()))
    return table


def _file_values(scanned: ScannedFile[DriftSummary]) -> dict[str, str]:
    """What stands of each file beside the others."""
    found = scanned.found
    cause = max(found.causes, key=lambda name: found.causes[name])
    return {
        "file": str(scanned.scan.source),
        "rows": f"{found.rows:,}",
        "drifted": f"{found.rate:.2%}" if found.errors < found.rows else "",
        "of the tokens": f"{found.token_rate:.3%}" if found.tokens else "",
        "most often": cause if found.drifted else "",
        "errors": f"{found.errors:,}" if found.errors else "",
    }


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
    return ShownDrift(one.row, _said(one), result.drift_cause, ids, again, one.file)
