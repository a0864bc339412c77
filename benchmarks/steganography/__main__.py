"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import ticore
from benchmarks._harness.cli import exit_status, positive_int, sampling_command
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import chosen_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of

from . import __doc__ as usage
from .plan import NAIVE, Plan
from .plot import plot
from .samples import make_worker
from .summary import summarize
from .tables import tables


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = sampling_command("steganography", usage, 100, plot=True)
    parser.add_argument("--bits", type=positive_int, default=plan.bits, help="bits per message")
    parser.add_argument("--top-k", type=positive_int, nargs="+", default=plan.top_k, metavar="K")
    parser.add_argument("--codecs", nargs="+", default=plan.codecs, metavar="NAME")
    parser.add_argument(
        "--disambiguations", nargs="+", default=plan.disambiguations, metavar="NAME"
    )
    parser.add_argument(
        "--naive", action="store_true", help=f"also measure the disambiguation {NAIVE}; slow"
    )
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    prompts = chosen_prompts(options, options.model)
    model = ticore.load_model(options.model)
    vocab_size = model.tokenizer.vocab_size
    plan = Plan(
        model=options.model,
        bits=options.bits,
        temperature=options.temperature,
        top_k=tuple(sorted({min(k, vocab_size) for k in options.top_k})),
        codecs=tuple(options.codecs),
        disambiguations=(*options.disambiguations, *([NAIVE] if options.naive else [])),
        seed=options.seed,
    )
    code = code_digest(make_worker, model, model.tokenizer)
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(plan.shared_settings(), model.digest(), prompts, code),
        plan.tasks(options.samples),
        ("codec", "disambiguation", "top_k", "index"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = asdict(plan) | {"samples": options.samples}
    report = new_report(settings, complete=complete, code=code)
    report |= summarize(samples, plan.methods, plan.top_k)
    return publish(options, report, samples, tables(report), plot)


if __name__ == "__main__":
    sys.exit(main())
