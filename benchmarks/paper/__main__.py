"""The command line: take the samples that are missing, summarize all, write the pages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
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
from . import covers, investigation, rollback_distribution, steganalysis, watermarks
from .analysis import Analysis, analysed, computed
from .messages import PART as MESSAGES
from .page import write_pages
from .part import Part
from .prompt_cuts import beginning
from .sections import Section
from .setting import Setting
from .stand_ins import LLAMA_2, QWEN_2_5, ROLES, STAND_INS, SWALLOW, StandIn, stand_in
from .taking import take

PARTS = {part.name: part for part in (investigation.PART, MESSAGES, covers.PART, watermarks.PART)}
ANALYSES = {each.name: each for each in (steganalysis.ANALYSIS,)}
COMPUTATIONS = {each.name: each for each in (rollback_distribution.COMPUTATION,)}
_NAMES = [*PARTS, *ANALYSES, *COMPUTATIONS]
_BUNDLED = [place for place in STAND_INS if place.startswith("tiny-")]

Rows = dict[StandIn, Sequence[JsonObject]]
"""The rows of a part, by model."""


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
        choices=_NAMES,
        default=_NAMES,
        metavar="PART",
        help=f"of {', '.join(_NAMES)}; default: all",
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
    parser.add_argument(
        "--encoder",
        type=Path,
        metavar="DIR",
        help="a sentence-embedding model that is fine-tuned as a detector, such as MiniLM-L6",
    )
    parser.add_argument("--out", type=Path, default=Path("results/paper"), metavar="DIR")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    wanted = list(options.parts)
    needed = {name for each in wanted if each in ANALYSES for name in ANALYSES[each].needs}
    settings = [_setting(stand_in(place, options.role), options) for place in options.models]
    rows: dict[str, Rows] = {}
    sections, complete = [], True
    for name, part in PARTS.items():
        if name in wanted or name in needed:
            rows[name], taken = _take(part, settings, options)
            complete &= taken
            if section := _publish(part, options.out / "results", rows[name], complete=complete):
                sections.append(section)
    for name in wanted:
        if name in ANALYSES:
            sections.append(_analyse(ANALYSES[name], rows, options))
        if name in COMPUTATIONS:
            found = computed(COMPUTATIONS[name], options.out / "results")
            sections.append(COMPUTATIONS[name].section(found))
    report = new_report({}, complete=complete)
    write_pages(options.out, _introduction(report), sections)
    messages.print(f"written: {options.out / 'index.html'}", markup=False)
    return 0 if complete else INTERRUPTED


def _setting(model: StandIn, options: argparse.Namespace) -> Setting:
    prompts = load_prompts(options.data, model.language)
    cut = tuple(beginning(prompt, model.language) for prompt in prompts)
    return Setting(model, cut, options.batch, options.seed)


def _take(
    part: Part, settings: Sequence[Setting], options: argparse.Namespace
) -> tuple[Rows, bool]:
    """The rows of each model, and whether they are complete."""
    count, complete = options.samples or part.full_samples, True
    rows: Rows = {}
    for setting in settings:
        messages.print(f"{part.name}, {setting.model.place}: {count:,} samples", markup=False)
        samples, taken = take(
            part, setting, count, options.out / "samples", options.processes, options.engine
        )
        rows[setting.model] = part.rows(samples, count)
        complete &= taken
    return rows, complete


def _publish(part: Part, folder: Path, rows: Rows, *, complete: bool) -> Section | None:
    """Write a part's results for programs, and return its section of the page, if it has one."""
    report = new_report({"part": part.name}, complete=complete)
    summaries: dict[StandIn, JsonObject] = {}
    if part.summarize is not None:
        summaries = {model: part.summarize(found) for model, found in rows.items() if found}
    report["models"] = [asdict(model) | {"results": s} for model, s in summaries.items()]
    write_json(folder / f"{part.name}.json", report)
    every = [{"model": model.place} | row for model, found in rows.items() for row in found]
    description = {name: report[name] for name in ("command", "time", "machine", "commit")}
    write_parquet(folder / f"{part.name}.parquet", every, description)
    return part.section(summaries) if part.section is not None and summaries else None


def _analyse(analysis: Analysis, rows: Mapping[str, Rows], options: argparse.Namespace) -> Section:
    folder = options.out / "results"
    found: dict[StandIn, JsonObject] = {}
    for model in rows[analysis.needs[0]]:
        messages.print(f"{analysis.name}, {model.place}", markup=False)
        of_model = {name: rows[name][model] for name in analysis.needs}
        if all(of_model.values()):
            found[model] = analysed(
                analysis, model, of_model, options.seed, options.encoder, folder
            )
    return analysis.section(found)


def _introduction(report: JsonObject) -> list[str]:
    machine, commit = report["machine"], report["commit"]
    code = "none" if commit is None else commit["id"][:12] + " (changed)" * commit["modified"]
    return [
        "Rates have 95 % intervals. The paper's numbers are in brackets, of the model that ours "
        "stands for. Our models are much smaller than theirs, so compare the order and the "
        "direction, not the values.",
        f"Command: {report['command']}. Commit: {code}. Machine: "
        f"{machine['processor']}, {machine['cores']} cores. Time: {report['time']}.",
    ]


if __name__ == "__main__":
    sys.exit(main())
