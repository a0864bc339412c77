"""How many tokens per second a detector reads: text by text, and many texts at once.

python -m benchmarks.watermarking.detecting --json results/detecting.json

Times are CPU time on one core, from token ids. The time to encode a text comes on top: a tokenizer
reads some hundred thousand to a few million tokens per second. The two ways take turns, and the
fastest of several rounds counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.environment import one_core
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject

from .detectors import make_detector
from .id_only_tokenizer import IdOnlyTokenizer

LENGTHS = (200, 1000, 10_000)
_VOCABULARY = 32_000
_KEY = bytes(range(32))
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    "left_hash": ("left_hash", {"key": _KEY}),
    "self_hash": ("self_hash", {"key": _KEY}),
    "unigram": ("unigram", {"key": _KEY}),
    "gumbel": ("gumbel", {"key": _KEY}),
    "left_hash, exact lists": ("left_hash", {"key": _KEY, "greens": "exact"}),
    "vllm": ("vllm", {"config": {"key": 42}}),
    "sglang": ("sglang", {"config": {"key": "0xabc"}}),
    "synthid": ("synthid", {"config": {"keys": list(range(100, 130)), "ngram_len": 5}}),
}
_WAYS = ("one_by_one", "at_once")


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.detecting", __doc__)
    parser.add_argument("--tokens", type=positive_int, default=100_000, help="tokens of all texts")
    parser.add_argument("--runs", type=positive_int, default=7, help="rounds of timing")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    with one_core():
        rows = [
            tokens_per_second(name, length, options.tokens, options.runs)
            for length in LENGTHS
            for name in SCHEMES
        ]
    settings = {"tokens": options.tokens, "runs": options.runs}
    report = new_report(settings, complete=True) | {"speeds": rows}
    return publish(options, report, rows, [_table(rows)])


def tokens_per_second(name: str, length: int, token_count: int, rounds: int) -> JsonObject:
    """The speed of one scheme's detector.

    Args:
        name: a key of `SCHEMES`.
        length: tokens per text.
        token_count: of all texts, of which there are at least two.
        rounds: how often each way is timed.
    """
    scheme, settings = SCHEMES[name]
    detector = make_detector(IdOnlyTokenizer(_VOCABULARY), scheme, settings)
    rng = np.random.default_rng(length)
    count = max(2, token_count // length)
    lists = [rng.zipf(1.25, length) % _VOCABULARY for _ in range(count)]
    works: list[Callable[[], object]] = [
        lambda: [detector.detect_ids(ids) for ids in lists],
        lambda: detector.detect_ids_batch(lists),
    ]
    seconds = time_in_turns(works, rounds, clock=process_time, warm_up=False)
    speeds = [count * length / min(times) for times in seconds]
    return {"scheme": name, "length": length} | dict(zip(_WAYS, speeds, strict=True))


def _table(rows: Sequence[JsonObject]) -> Table:
    headings = ["tokens per text", "one by one", "at once"]
    table = text_table("Million tokens per second", ["scheme"], headings)
    for row in rows:
        speeds = (f"{row[way] / 1e6:.2f}" for way in _WAYS)
        table.add_row(row["scheme"], f"{row['length']:,}", *speeds)
    return table


if __name__ == "__main__":
    sys.exit(main())
