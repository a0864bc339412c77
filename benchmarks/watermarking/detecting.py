"""How many tokens per second a detector looks at: text by text, and many texts at once.

python -m benchmarks.watermarking.detecting --json results/detecting.json

On one core, in CPU time, from token ids; encoding a text comes on top of it (a tokenizer reads some
hundred thousand to a few million tokens per second). The least of several runs counts, and the two
ways take turns, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

import ticore
from benchmarks.about import about
from benchmarks.running import attempt, command, positive, report
from benchmarks.workers import Found

from .ids_alone import IdsAlone

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


def rates(name: str, length: int, tokens: int, runs: int) -> Found:
    """Tokens per second of one scheme, for texts of one length, `tokens` in all."""
    scheme, settings = SCHEMES[name]
    detector = ticore.WatermarkDetector(IdsAlone(_VOCABULARY), scheme, **settings)
    rng = np.random.default_rng(length)
    count = max(2, tokens // length)
    lists = [rng.zipf(1.25, length) % _VOCABULARY for _ in range(count)]
    ways: dict[str, Callable[[], object]] = {
        "one by one": lambda: [detector.detect_ids(ids) for ids in lists],
        "at once": lambda: detector.detect_ids_batch(lists),
    }
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(runs):
        for way, work in ways.items():
            begin = process_time()
            work()
            seconds[way] = min(seconds[way], process_time() - begin)
    found: Found = {"scheme": name, "length": length}
    return found | {way: count * length / spent for way, spent in seconds.items()}


def _table(rows: Sequence[Found]) -> Table:
    table = Table(title="Million tokens per second", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("scheme")
    for column in ("tokens per text", "one by one", "at once"):
        table.add_column(column, justify="right")
    for row in rows:
        speeds = (f"{row[way] / 1e6:.2f}" for way in ("one by one", "at once"))
        table.add_row(row["scheme"], f"{row['length']:,}", *speeds)
    return table


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.detecting", __doc__)
    parser.add_argument("--tokens", type=positive, default=100_000, help="of the texts in all")
    parser.add_argument("--runs", type=positive, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    return parser.parse_args(arguments)


def _run(given: argparse.Namespace) -> int:
    rows = [rates(name, length, given.tokens, given.runs) for length in LENGTHS for name in SCHEMES]
    found = about(("ticore", "numpy", "scipy")) | {"complete": True, "figures": rows}
    given.plot = None
    return report(found, [_table(rows)], lambda *_: None, given)


def main(arguments: Sequence[str] | None = None) -> int:
    return attempt(_run, _parse(arguments))


if __name__ == "__main__":
    sys.exit(main())
