"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import ticore
from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks.round_trip.samples import Plan

from . import __doc__ as usage
from .figure import draw
from .kinds import KINDS, prompts_of
from .plan import METHODS, tasks
from .samples import make_worker
from .summary import summarize, table


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = command("methods", usage, plot=True)
    parser.add_argument("--samples", type=positive_int, default=100, help="messages of each kind")
    parser.add_argument(
        "--model", action="append", metavar="PLACE", help="a model; may be repeated"
    )
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="what is written; may be repeated (prose)"
    )
    parser.add_argument(
        "--method", action="append", choices=METHODS, help="may be repeated (all of them)"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument("--size", type=positive_int, default=plan.size, help="bytes per message")
    parser.add_argument("--top-k", type=positive_int, default=plan.top_k)
    parser.add_argument("--seed", type=int, default=plan.seed)
    add_store_options(parser, "methods", processes=1)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(size=options.size, top_k=options.top_k, seed=options.seed)
    models = options.model or [plan.model]
    kinds, methods = options.kind or ["prose"], options.method or list(METHODS)
    prompts = {
        model: {kind: prompts_of(kind, model, options.data) for kind in kinds} for model in models
    }
    opened = [ticore.load_model(model) for model in models]
    code = code_digest(make_worker, *opened, *(model.tokenizer for model in opened))
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(asdict(plan), prompts, [model.digest() for model in opened], code),
        tasks(models, kinds, methods, options.samples),
        ("index", "model", "kind", "method"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = asdict(plan) | {"samples": options.samples, "models": models, "kinds": kinds}
    rows = summarize(samples)
    report = new_report(settings, complete=complete, code=code) | {"methods": rows}
    return publish(options, report, rows, table(rows), draw)


if __name__ == "__main__":
    sys.exit(main())
