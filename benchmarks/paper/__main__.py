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
from benchmarks._harness.collect import Collector
from benchmarks._harness.progress import messages
from benchmarks._harness.prompts import load_prompts
from benchmarks._harness.report import INTERRUPTED, new_report
from benchmarks._harness.tables import write_json, write_parquet
from benchmarks._harness.types import JsonObject
from benchmarks._harness.workers import Engine
from ticore.errors import SettingsError

from . import __doc__ as usage
from . import (
    codecs,
    covers,
    endings,
    investigation,
    low_probability,
    rollback_distribution,
    steganalysis,
    watermarks,
)
from .analysis import Analysis, AnalysisOptions, analysed, computed
from .messages import PART as MESSAGES
from .messages.plan import METHODS
from .page import write_pages
from .part import Part
from .prompt_cuts import beginning
from .sections import Section
from .setting import Setting
from .stand_ins import LLAMA_2, QWEN_2_5, ROLES, STAND_INS, SWALLOW, StandIn, stand_in
from .taking import take
from .watermarks.paraphrasing import Paraphraser, paraphrased

PARTS = {
    part.name: part
    for part in (
        investigation.PART,
        MESSAGES,
        covers.PART,
        codecs.PART,
        endings.PART,
        watermarks.PART,
    )
}
ANALYSES = {each.name: each for each in (steganalysis.ANALYSIS, low_probability.ANALYSIS)}
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
        "--dtype",
        metavar="NAME",
        help="the number format that models compute in, such as bfloat16; parts with messages take "
        "float64 whatever this says; default: the backend's",
    )
    parser.add_argument(
        "--samples",
        type=positive_int,
        metavar="N",
        help="of each kind; default: as many as in the paper",
    )
    parser.add_argument(
        "--candidates",
        nargs="+",
        type=positive_int,
        metavar="K",
        help="the numbers of candidates that messages are hidden with; default: 4, 8, ... 4096, as "
        "in the paper",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        metavar="METHOD",
        help=f"that messages are hidden with, of {', '.join(map(repr, METHODS))}; default: all",
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
    parser.add_argument(
        "--paraphraser",
        metavar="URL|PLACE",
        help="who paraphrases watermarked texts: an OpenAI-compatible endpoint such as "
        "http://localhost:8000/v1, which the texts are sent to, or a model here that has a chat "
        "template, such as smollm2; default: nobody",
    )
    parser.add_argument(
        "--paraphraser-model", metavar="NAME", help="of the model to ask the endpoint for"
    )
    parser.add_argument(
        "--paraphraser-key",
        metavar="VARIABLE",
        help="the environment variable that holds the endpoint's key, such as OPENAI_API_KEY; "
        "default: no key is sent",
    )
    parser.add_argument("--out", type=Path, default=Path("results/paper"), metavar="DIR")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    wanted = list(options.parts)
    paraphraser = _paraphraser(options)
    _require_encoder(options)
    needed = {name for each in wanted if each in ANALYSES for name in ANALYSES[each].needs}
    settings = [
        _setting(stand_in(place, options.role, options.dtype), options) for place in options.models
    ]
    collector = Collector(options.processes, options.engine)
    rows: dict[str, Rows] = {}
    sections, complete = [], True
    for name, part in PARTS.items():
        if name in wanted or name in needed:
            rows[name], taken = _take(part, settings, options, collector)
            if part is watermarks.PART and paraphraser is not None:
                rows[name], all_tried = _paraphrase(
                    rows[name], settings, paraphraser, options, collector
                )
                taken &= all_tried
            complete &= taken
            if section := _publish(part, options.out / "results", rows[name], complete=complete):
                sections.append(section)
    for name in wanted:
        if name in ANALYSES:
            section, analysed_all = _analyse(ANALYSES[name], rows, options, collector)
            sections.append(section)
            complete &= analysed_all
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
    candidates = None if options.candidates is None else tuple(options.candidates)
    methods = None if options.methods is None else tuple(options.methods)
    return Setting(model, cut, options.batch, options.seed, candidates, methods)


def _take(
    part: Part, settings: Sequence[Setting], options: argparse.Namespace, collector: Collector
) -> tuple[Rows, bool]:
    """The rows of each model, and whether they are complete."""
    count, complete = options.samples or part.full_samples, True
    rows: Rows = {}
    for setting in settings:
        messages.print(f"{part.name}, {setting.model.place}: {count:,} samples", markup=False)
        samples, taken = take(part, setting, count, options.out / "samples", collector)
        rows[setting.model] = part.rows(samples, count)
        complete &= taken
    return rows, complete


def _paraphraser(options: argparse.Namespace) -> Paraphraser | None:
    """Who paraphrases. What is wrong with it is raised now, and not after hours."""
    named = options.paraphraser_model, options.paraphraser_key
    if options.paraphraser is None:
        if named != (None, None):
            raise SettingsError(
                "expected --paraphraser with --paraphraser-model or --paraphraser-key, found "
                "none; give the address of an endpoint"
            )
        return None
    if watermarks.PART.name not in options.parts:
        raise SettingsError(
            f"expected {watermarks.PART.name} among --parts with --paraphraser, which attacks "
            f"watermarked texts, found {', '.join(options.parts)}; add it, or leave it out"
        )
    found = Paraphraser(options.paraphraser, *named)
    found.open()
    return found


def _require_encoder(options: argparse.Namespace) -> None:
    """What is wrong with the encoder is raised now, and not after hours."""
    encoder: Path | None = options.encoder
    if encoder is None:
        return
    takers = [name for name, analysis in ANALYSES.items() if analysis.takes_encoder]
    if not {*takers} & {*options.parts}:
        raise SettingsError(
            f"expected {' or '.join(takers)} among --parts with --encoder, found "
            f"{', '.join(options.parts)}; add it, or leave the encoder out"
        )
    if not (encoder / "config.json").is_file():
        raise SettingsError(
            f"--encoder: expected the directory of a model, with config.json, found {encoder}; "
            f"download one, such as sentence-transformers/all-MiniLM-L6-v2, and give its path"
        )


def _paraphrase(
    rows: Rows,
    settings: Sequence[Setting],
    paraphraser: Paraphraser,
    options: argparse.Namespace,
    collector: Collector,
) -> tuple[Rows, bool]:
    """The rows with the attack, and whether each text was tried."""
    attacked: Rows = {}
    complete = True
    for setting in settings:
        attacked[setting.model], tried = paraphrased(
            setting,
            rows[setting.model],
            paraphraser,
            options.out / "samples",
            collector,
        )
        complete &= tried
    return attacked, complete


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


def _analyse(
    analysis: Analysis,
    rows: Mapping[str, Rows],
    options: argparse.Namespace,
    collector: Collector,
) -> tuple[Section, bool]:
    """The section of an analysis, and whether it shows all."""
    found: dict[StandIn, JsonObject] = {}
    complete = True
    for model in rows[analysis.needs[0]]:
        messages.print(f"{analysis.name}, {model.place}", markup=False)
        of_model = {name: rows[name][model] for name in analysis.needs}
        if all(of_model.values()):
            chosen = AnalysisOptions(model, options.seed, options.encoder)
            found[model], finished = analysed(analysis, of_model, chosen, options.out, collector)
            complete &= finished
    return analysis.section(found), complete


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
