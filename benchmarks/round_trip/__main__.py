"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import get_args

import numpy as np
from rich.table import Table

from benchmarks._harness.cli import add_alias, exit_status, positive_int, sampling_command
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.number_format import duration
from benchmarks._harness.prompts import chosen_prompts
from benchmarks._harness.refusals import sent
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject, Task
from ticore.consistency import Mode

from . import __doc__ as usage
from .samples import Plan, make_worker

_MEASURES = {
    "bits_per_token": ("bits per token", "{:.3g}".format),
    "token_count": ("tokens per message", "{:.3g}".format),
    "kl_filter": ("divergence by filtering, bits per token", "{:.2g}".format),
    "writer_passes": ("passes per token, writer", "{:.3g}".format),
    "reader_passes": ("passes per token, reader", "{:.3g}".format),
    "embed_seconds": ("writing, with its check", duration),
    "extract_seconds": ("reading", duration),
}


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = sampling_command("round_trip", usage, 100)
    add_alias(parser, "--count", "samples", type=positive_int)
    parser.add_argument("--size", type=positive_int, default=plan.size, help="bytes per message")
    parser.add_argument("--top-k", type=positive_int, default=plan.top_k)
    parser.add_argument(
        "--chat", action="store_true", help="a prompt is a user's message, the text is the reply"
    )
    parser.add_argument(
        "--batch", type=positive_int, default=plan.batch, help="texts that are written side by side"
    )
    parser.add_argument(
        "--part-size", type=positive_int, metavar="BYTES", help="of a message in each text"
    )
    parser.add_argument(
        "--reader", metavar="PLACE", help="the model that reads, where another one than --model"
    )
    parser.add_argument("--codec", default=plan.codec, help="default: %(default)s")
    parser.add_argument(
        "--disambiguation", default=plan.disambiguation, help="such as search; default: %(default)s"
    )
    parser.add_argument("--mode", choices=get_args(Mode), help="default: that of new messages")
    parser.set_defaults(processes=os.cpu_count() or 1)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    prompts = chosen_prompts(options, options.model)
    plan = Plan(**{field.name: getattr(options, field.name) for field in fields(Plan)})
    writer, reader = plan.open_models()
    code = code_digest(make_worker, writer, reader, writer.tokenizer)
    groups, complete = collect_samples(
        SampleStore(options.out),
        digest_of(asdict(plan), writer.digest(), reader.digest(), prompts, code),
        _groups(options.samples, plan.batch),
        ("first", "count"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    samples = [text for group in groups for text in group["texts"]]
    settings = asdict(plan) | {"samples": options.samples}
    report = new_report(settings, complete=complete, code=code) | summarize(samples)
    return publish(options, report, samples, tables(report))


def _groups(count: int, size: int) -> list[Task]:
    """The number of the first message in each group of `size` messages, and how many they are."""
    return [(first, min(size, count - first)) for first in range(0, count, size)]


def summarize(samples: Sequence[JsonObject]) -> JsonObject:
    """How many messages were recovered; the mean, median, 5 % and 95 % quantiles of each measure.

    Messages that the writer refused to send are counted, and are in no measure. Passes are known
    where texts are written one by one. Texts that were not sent are counted by the reason (see
    `ticore.Embedding`).
    """
    asked, samples = len(samples), sent(samples)
    measures: JsonObject = {}
    for name in _MEASURES if samples else ():
        if name in samples[0]:
            values = np.array([sample[name] for sample in samples])
            low, median, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
            measures[name] = {"mean": float(values.mean()), "low": low, "high": high}
            measures[name]["median"] = median
    counts = {
        "sample_count": asked,
        "refused_count": asked - len(samples),
        "recovered_count": sum(bool(sample["recovered"]) for sample in samples),
        "given_up": Counter(reason for sample in samples for reason in sample["given_up"]),
    }
    return counts | {"measures": measures}


def tables(report: JsonObject) -> Iterator[Table]:
    """The one table of a report."""
    given_up = ", ".join(f"{count:,} ({why})" for why, count in report["given_up"].items())
    title = (
        f"{report['recovered_count']:,} of {report['sample_count']:,} messages recovered, "
        f"{report['refused_count']:,} refused by the writer, texts given up: {given_up or 'none'}"
    )
    table = text_table(title, ["measure"], ["mean", "5 %", "50 %", "95 %"])
    for name, found in report["measures"].items():
        label, show = _MEASURES[name]
        table.add_row(label, *(show(found[part]) for part in ("mean", "low", "median", "high")))
    if not report["measures"]:
        table.add_row("no text was sent", *"-" * 4)
    yield table


if __name__ == "__main__":
    sys.exit(main())
