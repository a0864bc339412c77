"""The command line: take the samples that are missing, summarize and draw all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from rich.table import Table

import ticore
from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int, share
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import language_of, load_prompts
from benchmarks._harness.refusals import sent
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject, Sample, Task

from . import __doc__ as usage
from .figure import draw
from .samples import Plan, make_worker

WAYS = ((0, 0.0), (4, 0.05), (4, 0.1), (8, 0.05), (4, 0.02), (4, 0.15), (8, 0.1))
"""Windows (0: none) and shares of edits that messages are written for."""


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = command("edits", usage, plot=True)
    parser.add_argument("--samples", type=positive_int, default=100, help="messages of each kind")
    parser.add_argument("--model", default=plan.model, metavar="PLACE", help="the model")
    parser.add_argument("--size", type=positive_int, default=plan.size, help="bytes per message")
    parser.add_argument(
        "--shares", type=share, nargs="+", default=plan.shares, help="of edited tokens, 0 to 1"
    )
    parser.add_argument("--ways", type=positive_int, default=len(WAYS), help="take the first N")
    add_store_options(parser, "edits")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(model=options.model, size=options.size, shares=tuple(options.shares))
    prompts = load_prompts(None, language_of(options.model))
    model = ticore.load_model(options.model)
    code = code_digest(make_worker, model, model.tokenizer)
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(asdict(plan), prompts, model.digest(), code),
        list(_tasks(options.samples, options.ways)),
        ("window", "edits", "number"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = asdict(plan) | {"samples": options.samples}
    report = new_report(settings, complete=complete, code=code) | {"ways": summarize(samples)}
    return publish(options, report, report["ways"], [table(report)], draw)


def _tasks(count: int, ways: int) -> Iterator[Task]:
    for number in range(count):
        for window, edits in WAYS[:ways]:
            yield window, edits, number


def summarize(samples: Sequence[Sample]) -> list[JsonObject]:
    """For each window and share of edits, how many messages were read after each attack.

    Messages that could not be sent are counted, and are in no measure.
    """
    rows = list[JsonObject]()
    for window, edits in WAYS:
        asked = [each for each in samples if (each["window"], each["edits"]) == (window, edits)]
        if not asked:
            continue
        some = sent(asked)
        row: JsonObject = {"window": window, "edits": edits, "texts": len(some)}
        row["refused"] = len(asked) - len(some)
        rows.append(row | (_measures(some) if some else {}))
    return rows


def _measures(some: Sequence[Sample]) -> JsonObject:
    """Means of the texts that were sent, and how many were read after each attack."""
    tokens = sum(each["token_count"] for each in some)
    return {
        "tokens_per_text": tokens / len(some),
        "message_bits_per_token": 8 * sum(each["size"] for each in some) / tokens,
        "seconds_per_text": sum(each["seconds"] for each in some) / len(some),
        "read": [sum(column) for column in zip(*(each["read"] for each in some), strict=True)],
    }


def table(report: JsonObject) -> Table:
    """The table of a report."""
    shares = (f"{share:.0%}" for share in report["settings"]["shares"])
    headings = ["refused", "texts", "tokens", "message bits per token", *shares]
    found = text_table("Messages read, by edited tokens", ["window", "written for"], headings)
    for row in report["ways"]:
        found.add_row(
            str(row["window"] or "none"),
            f"{row['edits']:.0%}",
            str(row["refused"]),
            str(row["texts"]),
            *(_cells(row) if row["texts"] else ()),
        )
    return found


def _cells(row: JsonObject) -> Iterator[str]:
    yield f"{row['tokens_per_text']:.0f}"
    yield f"{row['message_bits_per_token']:.2f}"
    yield from map(str, row["read"])


if __name__ == "__main__":
    sys.exit(main())
