"""The command line: take the samples that are missing, summarize all of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
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
from .samples import Plan, make_worker
from .ways import KINDS, WAYS, WORDS


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("sizes", usage)
    parser.add_argument("--samples", type=positive_int, default=60, help="texts of each kind")
    parser.add_argument(
        "--model", action="append", metavar="PLACE", help="a model; may be repeated"
    )
    add_store_options(parser, "sizes")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan, models = Plan(), options.model or ["tiny-en"]
    prompts = {model: load_prompts(None, language_of(model)) for model in models}
    opened = [ticore.load_model(model) for model in models]
    code = code_digest(make_worker, *opened, *(model.tokenizer for model in opened))
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(
            asdict(plan), prompts, [model.digest() for model in opened], code, dict(WAYS), WORDS
        ),
        list(_tasks(models, options.samples)),
        ("model", "kind", "way", "number"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    settings = asdict(plan) | {"samples": options.samples, "models": models}
    report = new_report(settings, complete=complete, code=code) | {"sizes": summarize(samples)}
    return publish(options, report, report["sizes"], [table(report)])


def _tasks(models: Sequence[str], count: int) -> Iterator[Task]:
    for number in range(count):
        for model in models:
            for kind in KINDS:
                for way in WAYS:
                    yield model, kind, way, number


def summarize(samples: Sequence[Sample]) -> list[JsonObject]:
    """Means of bytes and tokens, and the range of all tokens, for each model, kind and way.

    Messages that could not be sent are counted, and are in no measure.
    """
    groups: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample["model"], sample["kind"], sample["way"]), []).append(sample)
    rows = list[JsonObject]()
    for (model, kind, way), asked in groups.items():
        some = sent(asked)
        row: JsonObject = {"model": model, "kind": kind, "way": way, "texts": len(some)}
        row["refused"] = len(asked) - len(some)
        rows.append(row)
        if not some:
            continue
        tokens = np.array([each["all_tokens"] for each in some])
        row["read"] = sum(each["is_read"] for each in some)
        for name in ("message_bytes", "frame_bytes", "token_count", "all_tokens", "seconds"):
            row[name] = float(np.mean([each[name] for each in some]))
        row["bits_per_token"] = 8 * row["frame_bytes"] / row["token_count"]
        row["least_tokens"], row["most_tokens"] = np.quantile(tokens, (0.05, 0.95)).tolist()
    return rows


def table(report: JsonObject) -> Table:
    """The table of a report."""
    headings = [
        *("refused", "texts", "read", "message, bytes", "frame, bytes", "bits per token"),
        *("tokens of the frame", "tokens of the text (5 % to 95 %)"),
    ]
    found = text_table("How long texts get", ["model", "message", "settings"], headings)
    for row in report["sizes"]:
        found.add_row(
            row["model"],
            row["kind"],
            row["way"],
            str(row["refused"]),
            str(row["texts"]),
            *(_cells(row) if row["texts"] else ()),
        )
    return found


def _cells(row: JsonObject) -> Iterator[str]:
    yield str(row["read"])
    yield f"{row['message_bytes']:.0f}"
    yield f"{row['frame_bytes']:.1f}"
    yield f"{row['bits_per_token']:.2f}"
    yield f"{row['token_count']:.0f}"
    yield f"{row['all_tokens']:.0f} ({row['least_tokens']:.0f} to {row['most_tokens']:.0f})"


if __name__ == "__main__":
    sys.exit(main())
