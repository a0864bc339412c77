"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial

import ticore
from benchmarks._harness.cli import exit_status, positive_int, sampling_command
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import chosen_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from ticore.schemes import SCHEMES

from . import __doc__ as usage
from .plan import ATTACKS, UNMARKED, Plan
from .plot import plot
from .samples import make_worker
from .summary import summarize
from .tables import tables


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = sampling_command("watermarking", usage, 200, plot=True)
    parser.add_argument(
        "--tokens",
        dest="max_tokens",
        type=positive_int,
        default=plan.max_tokens,
        help="the most tokens of a text",
    )
    parser.add_argument(
        "--schemes", nargs="+", choices=SCHEMES, default=plan.schemes, metavar="SCHEME"
    )
    parser.add_argument(
        "--observation",
        type=int,
        default=plan.observation,
        metavar="TOKENS",
        help="further tokens after which an inconsistency is rolled back",
    )
    parser.add_argument("--top-k", type=int, default=plan.top_k)
    parser.add_argument("--top-p", type=float, default=plan.top_p)
    parser.add_argument(
        "--passes",
        type=positive_int,
        default=plan.passes,
        help="times to read each token, to be as slow as a model that many times as large",
    )
    parser.add_argument(
        "--attacks",
        nargs="*",
        choices=ATTACKS,
        default=(),
        metavar="ATTACK",
        help=f"attacks to measure; without a name, all of them: {', '.join(ATTACKS)}",
    )
    options = parser.parse_args(arguments)
    if options.attacks == []:
        options.attacks = list(ATTACKS)
    return options


def _run(options: argparse.Namespace) -> int:
    settings = {field.name: getattr(options, field.name) for field in fields(Plan)}
    settings |= {name: tuple(settings[name]) for name in ("schemes", "attacks")}
    plan = Plan(**settings)
    prompts = chosen_prompts(options, plan.model)
    model = ticore.load_model(plan.model)
    code = code_digest(make_worker, model, model.tokenizer)
    shared = plan.shared_settings()
    # All schemes of a sample come before the next sample. So a run that is interrupted has about
    # as many samples of each scheme.
    tasks = [
        (name, index) for index in range(options.samples) for name in (UNMARKED, *plan.schemes)
    ]
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(shared, sorted(plan.schemes), model.digest(), prompts, code),
        tasks,
        ("scheme", "index"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = shared | {"schemes": plan.schemes, "samples": options.samples}
    report = new_report(settings, complete=complete, code=code)
    report |= summarize(samples, plan.schemes)
    return publish(options, report, samples, tables(report), plot)


if __name__ == "__main__":
    sys.exit(main())
