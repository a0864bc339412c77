"""The survey: one row for each of many tokenizers, each measured in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.number_format import duration
from benchmarks._harness.progress import messages
from benchmarks._harness.report import new_report
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table, write_json
from benchmarks._harness.types import JsonObject

from . import survey_stages
from .per_tokenizer import finish
from .survey_stages import STAGES
from .tokenizer_sources import TokenizerSource, tokenizer_sources, tokenizers_in

_MEGABYTE = 1 << 20


def run(options: argparse.Namespace) -> int:
    """Measure all tokenizers that have no row yet.

    Returns:
        The exit status: 1 where an answer was wrong.
    """
    asked = [
        *options.tokenizer,
        *(one for folder in options.folder for one in tokenizers_in(folder)),
    ]
    sources = tokenizer_sources(asked, options.data)
    store = SampleStore(options.out)
    settings = {
        "seed": options.seed,
        "checks": options.checks,
        "data": None if options.data is None else str(options.data),
        "texts": [str(file) for file in options.texts],
    }
    # Which adapters open the tokenizers is known only at run time.
    code = code_digest(survey_stages, *survey_stages.adapters())
    report = new_report(settings | {"limit": options.limit}, complete=False, code=code)
    rows: list[JsonObject] = []
    report |= {"tokenizers": rows, "skipped": {}}
    try:
        for number, source in enumerate(sources, start=1):
            digest = digest_of(source.name, source.place, settings, code)
            row = _stored(store, digest, options.limit)
            if row is None:
                messages.print(f"{number} of {len(sources)}: {source.name}", markup=False)
                row = store.add(digest, measure(source, settings, options.out, options.limit))
            rows.append(row)
            if options.json is not None:
                write_json(options.json, report)
        report["complete"] = True
    except KeyboardInterrupt:
        messages.print("interrupted; the same command continues from here")
    status = finish(options, report, rows, survey_tables(rows))
    return 1 if any(row.get("soak", {}).get("mismatches") for row in rows) else status


def _stored(store: SampleStore, digest: str, limit: float) -> JsonObject | None:
    """The last row of a digest, unless a longer time limit may complete it."""
    *_, row = (None, *store.samples(digest))
    return None if row is not None and row["stopped"] and row["limit"] < limit else row


def measure(source: TokenizerSource, settings: JsonObject, out: Path, limit: float) -> JsonObject:
    """The row of one tokenizer.

    Args:
        source: says what to open.
        settings: see `survey_stages`.
        out: the store of rows. The cases of the soak are stored beside it.
        limit: seconds that each stage may take.

    Returns:
        What `STAGES` measured. `stopped` names the stage that was not completed, and why; empty
        where all were.
    """
    row: JsonObject = {"tokenizer": source.name, "place": source.place, "limit": limit}
    row["stopped"] = ""
    with TemporaryDirectory() as folder:
        found = Path(folder, "found.json")
        for stage in STAGES:
            request = settings | {
                "stage": stage,
                "tokenizer": source.asked,
                "cache": str(Path(folder, "cache")),
                "found": str(found),
                "cases": str(out.with_suffix(".cases.jsonl")),
            }
            row["stopped"] = _run_stage(request, limit)
            if found.exists():
                row |= json.loads(found.read_text(encoding="utf-8"))
                found.unlink()
            if row["stopped"] or row.get("refused"):
                break
    return row


def _run_stage(request: JsonObject, limit: float) -> str:
    """Run one stage in a new process. Returns why it was not completed, or nothing."""
    command = [sys.executable, "-m", survey_stages.__name__, json.dumps(request)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"{request['stage']}: took longer than {limit:g} s"
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return f"{request['stage']}: {last[0]}"
    return ""


def survey_tables(rows: Sequence[JsonObject]) -> Iterator[Table]:
    """Three tables with a row for each tokenizer: how it is verified, how fast, and why not."""
    yield _methods(rows)
    yield _speeds(rows)
    yield _reasons(rows)


def _methods(rows: Sequence[JsonObject]) -> Table:
    table = text_table(
        "How each tokenizer is verified, by mode, and what the soak found",
        ["tokenizer", "kind", "prefix", "open", "viable"],
        ["ids", "checks", "beyond prefix", "mismatches"],
    )
    for row in rows:
        if "vocab_size" not in row:
            continue
        soak = row.get("soak", {})
        methods = [
            row.get("modes", {}).get(mode, {}).get("method", "")
            for mode in ("prefix", "open", "viable")
        ]
        numbers = [f"{soak[name]:,}" if soak else "" for name in ("checks", "beyond_prefix")]
        wrong = str(soak["mismatches"]) if soak else ""
        size = f"{row['vocab_size']:,}"
        table.add_row(row["tokenizer"], row["kind"], *methods, size, *numbers, wrong)
    return table


def _speeds(rows: Sequence[JsonObject]) -> Table:
    table = text_table(
        "CPU time in mode prefix: opening, a Verifier, a mask (median), a push; ~ is scaled",
        ["tokenizer"],
        [
            *("open", "memory", "first Verifier", "from disk"),
            *("mask, seen", "new token", "new tail"),
            *("push, English", "Japanese", "Chinese"),
        ],
    )
    for row in rows:
        prefix = row.get("modes", {}).get("prefix")
        if prefix is None:
            continue
        masks, pushes = row.get("masks", {}), row.get("pushes", {})
        table.add_row(
            row["tokenizer"],
            duration(row["opened"]),
            f"{row['opening_bytes'] / _MEGABYTE:,.0f} MB" if "opening_bytes" in row else "",
            duration(prefix["first"]),
            _cell(row.get("from_disk")),
            _cell(masks.get("seen")),
            _cell(masks.get("new_token")) or "~" * ("scaled" in masks) + _cell(masks.get("scaled")),
            _cell(masks.get("new_tail")),
            *(_cell(pushes.get(language)) for language in ("English", "Japanese", "Chinese")),
        )
    return table


def _reasons(rows: Sequence[JsonObject]) -> Table:
    table = text_table("What is in the way of a faster method", ["tokenizer", "why"], [])
    for row in rows:
        why = row.get("refused") or row.get("modes", {}).get("prefix", {}).get("why", "")
        for reason in (why, row["stopped"]):
            if reason:
                table.add_row(row["tokenizer"], reason)
    return table


def _cell(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)
