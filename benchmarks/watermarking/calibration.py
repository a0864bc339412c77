"""Calibration: are p-values right without a watermark, and is a watermark found in part of a text?

python -m benchmarks.watermarking.calibration --json results/calibration.json
python -m benchmarks.watermarking.calibration --texts 2000 --lengths 20 200 1000

Scores are drawn from each scheme's null distribution, or come from the scheme itself with a new key
for every twenty texts. A p-value is valid if at most a share `a` of the texts without a watermark
has a p-value of `a` or less, and sharp if the share is not much less. "Before" is an earlier bound.
It uses Ville's inequality for each start of a segment, or for each segment if lists are exact, and
supposes a watermark of one strength.

Samples are stored as they are taken; the same command continues an interrupted run.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject, Sample

from .simulation import RATES, make_worker, plan_tasks

LENGTHS = (20, 50, 200, 1000, 10_000)
_TASK = ("kind", "name", "length", "strength", "text_count", "part")
_KIND = _TASK[:4]


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.calibration", __doc__)
    parser.add_argument("--texts", type=positive_int, default=100_000, help="texts of each kind")
    parser.add_argument(
        "--lengths", type=positive_int, nargs="+", default=LENGTHS, metavar="TOKENS"
    )
    add_store_options(parser, "calibration", processes=1)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    code = code_digest(make_worker)
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(code),
        plan_tasks(options.texts, options.lengths),
        _TASK,
        make_worker,
        options.processes,
    )
    settings = {"texts": options.texts, "lengths": list(options.lengths)}
    report = new_report(settings, complete=complete, code=code)
    report["summary"] = summarize(samples)
    return publish(options, report, samples, tables(report["summary"]))


def summarize(samples: Sequence[Sample]) -> list[JsonObject]:
    """For each kind of text, the share of p-values that are at most each rate.

    `claimed` are the p-values below which 1 % and 0.1 % of the texts are.
    """
    by_kind: dict[tuple[Any, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        by_kind[tuple(sample[name] for name in _KIND)].append(sample)
    summary = []
    for kind, parts in by_kind.items():
        texts = sum(part["text_count"] for part in parts)
        lowest = sorted(value for part in parts for value in part["lowest"])
        entry: JsonObject = dict(zip(_KIND, kind, strict=True)) | {"text_count": texts}
        for key in ("whole", "segment", "ville", "verdict", "detected"):
            entry[key] = (np.sum([part[key] for part in parts], axis=0) / texts).tolist()
        entry["claimed"] = [
            lowest[min(int(texts * rate), len(lowest) - 1)] for rate in (0.01, 0.001)
        ]
        summary.append(entry)
    return summary


def tables(summary: Sequence[JsonObject]) -> Iterator[Table]:
    """The summary as tables."""
    rates = [f"{rate:.0e}" for rate in RATES]
    segment = text_table(
        "No watermark: share of texts whose segment has a p-value of at most a; the p-values that "
        "1 % and 0.1 % of the texts reach",
        ["scores"],
        ["tokens", "texts", *rates, "at 1 %", "at 0.1 %"],
    )
    whole = text_table(
        "No watermark: share of whole texts with a p-value of at most a; share of texts found at "
        "a false-positive rate (fpr) of a",
        ["scores"],
        ["tokens", *rates, *(f"fpr {rate}" for rate in rates)],
    )
    marked = text_table(
        "Some of 1,000 tokens watermarked: share of texts found by their segment at a "
        "false-positive rate, before and now",
        ["scores", "watermarked"],
        [f"{when} {rate}" for rate in rates[1:] for when in ("before", "now")],
    )
    for entry in summary:
        if entry["kind"] != "marked":
            name, length = entry["name"], f"{entry['length']:,}"
            shares = [f"{share:.2g}" for share in entry["segment"] + entry["claimed"]]
            segment.add_row(name, length, f"{entry['text_count']:,}", *shares)
            shares = [f"{share:.2g}" for share in entry["whole"] + entry["verdict"]]
            whole.add_row(name, length, *shares)
        else:
            pairs = [f"{share:.0%}" for pair in entry["detected"] for share in pair]
            marked.add_row(entry["name"], f"{entry['length']} at {entry['strength']:g}", *pairs)
    yield segment
    yield whole
    yield marked


if __name__ == "__main__":
    sys.exit(main())
