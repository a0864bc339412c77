"""The command line: take the samples that are missing, summarize all, write the pages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from benchmarks._harness.cli import exit_status, positive_int
from benchmarks._harness.progress import messages
from benchmarks._harness.prompts import load_prompts
from benchmarks._harness.report import INTERRUPTED, new_report
from benchmarks._harness.tables import write_json, write_parquet
from benchmarks._harness.types import JsonObject
from benchmarks._harness.workers import Engine

from . import __doc__ as usage
from . import investigation, watermarks
from .page import write_pages
from .part import Part, Setting
from .prompt_cuts import beginning
from .published import LLAMA_2, QWEN_2_5, SWALLOW
from .sections import Section
from .stand_ins import ROLES, STAND_INS, StandIn, stand_in
from .taking import take

PARTS = {part.name: part for part in (investigation.PART, watermarks.PART)}
_BUNDLED = [place for place in STAND_INS if place.startswith("tiny-")]


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=list(PARTS),
        default=list(PARTS),
        metavar="PART",
        help=f"of {', '.join(PARTS)}; default: all",
    )
    parser.add_argument(
        "--models",
        nargs="+",
        default=_BUNDLED,
        metavar="PLACE",
        help=f"models to open; default: {', '.join(_BUNDLED)}",
    )
    parser.add_argument(
        "--as",
        dest="role",
        choices=list(ROLES),
        help=f"the paper's model that other models stand for: its prompts and q ({LLAMA_2}: "
        f"English, {SWALLOW}: Japanese, {QWEN_2_5}: Chinese)",
    )
    parser.add_argument(
        "--samples",
        type=positive_int,
        metavar="N",
        help="of each kind; default: as many as in the paper",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument(
        "--batch", type=positive_int, default=20, help="texts that are written side by side"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--processes", type=positive_int, default=os.cpu_count() or 1, help="number of workers"
    )
    parser.add_argument(
        "--engine",
        choices=get_args(Engine),
        default="processes",
        help="what the workers are: processes here, or those of a Ray cluster",
    )
    parser.add_argument("--out", type=Path, default=Path("results/paper"), metavar="DIR")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    models = [stand_in(place, options.role) for place in options.models]
    sections, complete = [], True
    for name in options.parts:
        summaries: dict[StandIn, JsonObject] = {}
        rows: list[JsonObject] = []
        for model in models:
            prompts = load_prompts(options.data, model.language)
            cut = tuple(beginning(prompt, model.language) for prompt in prompts)
            setting = Setting(model, cut, options.batch, options.seed)
            found, all_taken = _take(PARTS[name], setting, options)
            complete &= all_taken
            if found:
                rows += [{"model": model.place} | row for row in found]
                summaries[model] = PARTS[name].summarize(found)
        if summaries:
            sections.append(_publish(PARTS[name], options.out, summaries, rows, complete))
    environment = new_report({}, complete=complete)
    write_pages(options.out, _introduction(environment), sections)
    messages.print(f"written: {options.out / 'index.html'}", markup=False)
    return 0 if complete else INTERRUPTED


def _take(
    part: Part, setting: Setting, options: argparse.Namespace
) -> tuple[Sequence[JsonObject], bool]:
    count = options.samples or part.full_samples
    messages.print(f"{part.name}, {setting.model.place}: {count:,} samples", markup=False)
    samples, complete = take(
        part, setting, count, options.out / "samples", options.processes, options.engine
    )
    return part.rows(samples, count), complete


def _publish(
    part: Part,
    folder: Path,
    summaries: dict[StandIn, JsonObject],
    rows: Sequence[JsonObject],
    complete: bool,
) -> Section:
    """Write a part's results for programs, and return its section of the page."""
    report = new_report({"part": part.name}, complete=complete)
    report["models"] = [asdict(model) | {"results": s} for model, s in summaries.items()]
    results = folder / "results"
    write_json(results / f"{part.name}.json", report)
    description = {name: report[name] for name in ("command", "time", "machine", "commit")}
    write_parquet(results / f"{part.name}.parquet", rows, description)
    return part.section(summaries)


def _introduction(report: JsonObject) -> list[str]:
    machine = report["machine"]
    return [
        "Rates have 95 % intervals. The paper's numbers are in brackets, of the model that ours "
        "stands for. Our models are much smaller than theirs, so compare the order and the "
        "direction, not the values.",
        f"Command: {report['command']}. Commit: {report['commit']}. Machine: "
        f"{machine['processor']}, {machine['cores']} cores. Time: {report['time']}.",
    ]


if __name__ == "__main__":
    sys.exit(main())
