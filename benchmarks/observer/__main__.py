"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import ticore
from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of

from . import __doc__ as usage
from .plan import Plan
from .reporting import tables
from .samples import make_worker
from .summary import summarize


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = command("observer", usage)
    parser.add_argument("--samples", type=positive_int, default=2000, help="texts of each kind")
    parser.add_argument("--model", default=plan.model, metavar="PLACE", help="the model")
    parser.add_argument(
        "--largest", type=positive_int, default=plan.largest, help="bytes of the longest message"
    )
    parser.add_argument(
        "--top-k",
        type=lambda text: None if text == "all" else positive_int(text),
        default=plan.top_k,
        help="candidates per step of sealed texts, or 'all'",
    )
    parser.add_argument(
        "--batch", type=positive_int, default=plan.batch, help="texts that are written side by side"
    )
    add_store_options(parser, "observer", processes=1)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(options.model, options.largest, options.top_k, options.batch)
    prompts = load_prompts(None, language_of(plan.model))
    model = ticore.load_model(plan.model, dtype="float64")
    code = code_digest(make_worker, model, model.tokenizer)
    groups, complete = collect_samples(
        SampleStore(options.out),
        digest_of(asdict(plan), prompts, model.digest(), code),
        [
            (first, min(plan.batch, options.samples - first))
            for first in range(0, options.samples, plan.batch)
        ],
        ("first", "count"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    texts = [text for group in groups for text in group["texts"]]
    settings = asdict(plan) | {"samples": options.samples}
    report = new_report(settings, complete=complete, code=code) | summarize(texts, plan.seed)
    return publish(options, report, report["tests"], tables(report))


if __name__ == "__main__":
    sys.exit(main())
