"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from rich.table import Table

import ticore
from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.refusals import sent
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject, Sample, Task

from . import __doc__ as usage
from .journeys import JOURNEYS
from .samples import Plan, channels, make_worker

_BATCH = 10


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = command("channels", usage)
    parser.add_argument("--samples", type=positive_int, default=100, help="messages of each kind")
    parser.add_argument(
        "--model", action="append", metavar="PLACE", help="a model; may be repeated"
    )
    parser.add_argument("--size", type=positive_int, default=plan.size, help="bytes per message")
    add_store_options(parser, "channels")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan, models = Plan(size=options.size), options.model or ["tiny-en"]
    prompts = {model: load_prompts(None, language_of(model)) for model in models}
    opened = [ticore.load_model(model, dtype="float64") for model in models]
    code = code_digest(make_worker, *opened, *(model.tokenizer for model in opened))
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(asdict(plan), prompts, [model.digest() for model in opened], code),
        list(_tasks(models, options.samples)),
        ("model", "channel", "first", "count"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = asdict(plan) | {"samples": options.samples, "models": models}
    report = new_report(settings, complete=complete, code=code) | summarize(samples)
    return publish(options, report, report["journeys"] + report["costs"], tables(report))


def _tasks(models: Sequence[str], count: int) -> Iterator[Task]:
    for first in range(0, count, _BATCH):
        for model in models:
            for channel in channels():
                # A model of Japanese or Chinese has next to nothing to write in ASCII.
                if channel != "ascii" or language_of(model) == "en":
                    yield model, channel, first, min(_BATCH, count - first)


def summarize(samples: Sequence[Sample]) -> JsonObject:
    """How many messages were read after each journey, and what each channel costs.

    Messages that could not be sent are counted, and are in no measure.
    """
    journeys: list[JsonObject] = []
    costs: list[JsonObject] = []
    for model in dict.fromkeys(sample["model"] for sample in samples):
        of_model = [sample for sample in samples if sample["model"] == model]
        for name, journey in JOURNEYS.items():
            row: JsonObject = {"model": model, "journey": name, "channel": journey.channel}
            for key, channel in (("over_channel", journey.channel), ("without", "identity")):
                some = [each for each in of_model if each["channel"] == channel]
                row[f"{key}_written"] = sum(len(sent(each["texts"])) for each in some)
                row[f"{key}_read"] = sum(each["read"][name] for each in some)
            if row["over_channel_written"]:
                journeys.append(row)
        for channel in channels():
            texts = [t for each in of_model if each["channel"] == channel for t in each["texts"]]
            if texts:
                some = sent(texts)
                row = {"model": model, "channel": channel, "texts": len(some)}
                row["refused"] = len(texts) - len(some)
                costs.append(row | (_means(some) if some else {}))
    return {"journeys": journeys, "costs": costs}


def _means(texts: Sequence[JsonObject]) -> JsonObject:
    """Bits and tokens over all texts, and the divergence per token."""
    tokens = sum(text["token_count"] for text in texts)
    bits = sum(text["bits_per_token"] * text["token_count"] for text in texts)
    lost = sum(text["kl_filter"] * text["token_count"] for text in texts)
    return {
        "bits_per_token": bits / tokens,
        "tokens_per_text": tokens / len(texts),
        "kl_filter": lost / tokens,
    }


def tables(report: JsonObject) -> Iterator[Table]:
    """The two tables of a report."""
    table = text_table(
        "Messages that were read", ["model", "journey", "channel"], ["over it", "without"]
    )
    for row in report["journeys"]:
        read = (
            f"{row[f'{key}_read']} of {row[f'{key}_written']}"
            for key in ("over_channel", "without")
        )
        table.add_row(row["model"], row["journey"], row["channel"], *read)
    yield table
    headings = [
        "refused",
        "texts",
        "bits per token",
        "tokens per text",
        "divergence, bits per token",
    ]
    table = text_table("What channels cost", ["model", "channel"], headings)
    for row in report["costs"]:
        table.add_row(
            row["model"],
            row["channel"],
            str(row["refused"]),
            str(row["texts"]),
            *(_cells(row) if row["texts"] else ()),
        )
    yield table


def _cells(row: JsonObject) -> Iterator[str]:
    yield f"{row['bits_per_token']:.2f}"
    yield f"{row['tokens_per_text']:.0f}"
    yield f"{row['kl_filter']:.4f}"


if __name__ == "__main__":
    sys.exit(main())
