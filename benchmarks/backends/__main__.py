"""The command line: take the samples that are missing, measure the rest, summarize all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain

from benchmarks._harness.cli import add_alias, exit_status, positive_int, sampling_command
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import chosen_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.types import JsonObject

from . import __doc__ as usage
from .batches import TOKEN_COUNT, measure_batches
from .logit_differences import logit_differences
from .plan import TASK_NAMES, Plan
from .plot import plot
from .samples import load_exact, make_worker
from .speed import ROUNDS, parallel_reading, token_cost, transformers_speed
from .summary import exchange, robustness
from .tables import tables

PARTS = ("differences", "robustness", "exchange", "speed")
_EARLIER_NAMES = {"noise": "differences"}


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = sampling_command("backends", usage, 100, plot=True)
    parser.add_argument(
        "--parts", nargs="+", type=_part, choices=PARTS, default=PARTS, metavar="NAME"
    )
    parser.add_argument(
        "--models",
        nargs="+",
        default=plan.models,
        metavar="PLACE",
        help="one model in several backends",
    )
    add_alias(parser, "--places", "models", nargs="+")
    parser.add_argument("--codecs", nargs="+", default=plan.codecs, metavar="NAME")
    parser.add_argument(
        "--exchanged", type=positive_int, default=200, help="messages that each backend writes"
    )
    parser.add_argument("--tokens", type=positive_int, default=200, help="tokens per timed text")
    parser.add_argument(
        "--texts", type=positive_int, default=10, help="texts whose reading is timed"
    )
    parser.add_argument("--top-k", type=positive_int, nargs="+", default=(64, 4096), metavar="K")
    parser.add_argument("--dtype", default="float32", help="dtype of the timed models")
    parser.add_argument("--rows", type=positive_int, default=32, help="texts per batch")
    parser.add_argument("--rounds", type=positive_int, default=ROUNDS, help="rounds of timing")
    return parser.parse_args(arguments)


def _part(name: str) -> str:
    return _EARLIER_NAMES.get(name, name)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(models=tuple(options.models), codecs=tuple(options.codecs), seed=options.seed)
    prompts = chosen_prompts(options, plan.models[0])
    tasks = [
        *(plan.robustness_tasks(options.samples) if "robustness" in options.parts else ()),
        *(plan.exchange_tasks(options.exchanged) if "exchange" in options.parts else ()),
    ]
    models = [load_exact(place) for place in plan.models] if tasks else []
    code = code_digest(make_worker, *chain(*((model, model.tokenizer) for model in models)))
    digests = [model.digest() for model in models]
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(plan.shared_settings(), digests, prompts, code),
        tasks,
        TASK_NAMES,
        partial(make_worker, plan, prompts),
        options.processes,
    )
    differences = "differences" in options.parts
    report = new_report(
        asdict(plan) | {"samples": options.samples, "parts": list(options.parts)},
        complete=complete,
        code=code,
    ) | {
        "robustness": robustness(samples, plan.noise_levels),
        "exchange": exchange(samples, plan.models),
        "differences": logit_differences(plan.models, " ".join(prompts), options.tokens)
        if differences
        else [],
        "speed": _speed(options, plan, prompts) if "speed" in options.parts else {},
    }
    return publish(options, report, samples, tables(report), plot)


def _speed(options: argparse.Namespace, plan: Plan, prompts: Sequence[str]) -> JsonObject:
    torch, prompt = [place for place in plan.models if place.startswith("torch:")], prompts[0]
    return {
        "transformers": [
            transformers_speed(place, dtype, prompt, options.tokens, options.rounds)
            for place in torch
            for dtype in dict.fromkeys((options.dtype, "float64"))
        ],
        "token_cost": [
            token_cost(place, options.dtype, prompt, options.tokens, top_k)
            for place in plan.models
            for top_k in options.top_k
        ],
        "parallel_reading": [
            parallel_reading(place, prompt, options.texts, options.rounds) for place in plan.models
        ],
        "batches": [
            asdict(one)
            for one in measure_batches(
                plan.models,
                prompts,
                text_count=options.rows,
                token_count=min(TOKEN_COUNT, options.tokens),
                dtype=options.dtype,
                seed=options.seed,
            )
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
