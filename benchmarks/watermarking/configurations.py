"""How fast many keys are looked for at once, and all marked stretches of a long text.

python -m benchmarks.watermarking.configurations --json results/configurations.json

Times are CPU time on one core, from token ids; the fastest of several rounds counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.table import Table

from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.environment import one_core
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject
from ticore.schemes import SCHEMES
from ticore.watermarking import WatermarkDetector

from .id_only_tokenizer import IdOnlyTokenizer

_VOCABULARY = 32_000
_LENGTH = 200
_TEXTS = 10
_STRETCHES, _MARKED = 20, 200  # of the long text: how many are marked, and how many tokens each


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.configurations", __doc__)
    parser.add_argument("--keys", type=positive_int, default=1000, help="keys of each scheme")
    parser.add_argument("--tokens", type=positive_int, default=100_000, help="of the long text")
    parser.add_argument("--runs", type=positive_int, default=7, help="rounds of timing")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    with one_core():
        rows = [
            speeds(scheme, options.keys, options.tokens, options.runs) for scheme in sorted(SCHEMES)
        ]
    settings = {"keys": options.keys, "tokens": options.tokens, "runs": options.runs}
    report = new_report(settings, complete=True) | {"speeds": rows}
    return publish(options, report, rows, [_table(rows, options.keys, options.tokens)])


def speeds(scheme: str, keys: int, tokens: int, rounds: int) -> JsonObject:
    """How many texts of 200 tokens a second under many keys, and the seconds for one long text.

    The long text is marked in many places under one key, which is looked for alone.

    Args:
        scheme: its name.
        keys: how many.
        tokens: of the long text.
        rounds: how often each is timed.
    """
    rng = np.random.default_rng(0)
    tokenizer = IdOnlyTokenizer(_VOCABULARY)
    secrets = [rng.bytes(32) for _ in range(keys)]
    many = WatermarkDetector.any(tokenizer, [{"scheme": scheme, "key": secrets}])
    lists = [rng.zipf(1.25, _LENGTH) % _VOCABULARY for _ in range(_TEXTS)]
    one = WatermarkDetector(tokenizer, SCHEMES[scheme](secrets[0], _VOCABULARY))
    long = rng.integers(_VOCABULARY, size=tokens)
    begins = range(1000, tokens - 1000, max(tokens // _STRETCHES, 5 * _MARKED))
    for begin in begins:
        _mark(one, long, begin, rng)
    found = one.detect_ids(long).stretches
    works: list[Callable[[], object]] = [
        lambda: [many.detect_ids(ids) for ids in lists],
        lambda: one.detect_ids(long),
    ]
    seconds = time_in_turns(works, rounds, clock=process_time, warm_up=False)
    return {
        "scheme": scheme,
        "texts_per_second": _TEXTS / min(seconds[0]),
        "long_text_seconds": min(seconds[1]),
        "marked": len(begins),
        "stretches": len(found),
    }


def _mark(
    detector: WatermarkDetector, ids: npt.NDArray[np.int64], begin: int, rng: np.random.Generator
) -> None:
    """Write some tokens with the watermark, as a model without preferences would."""
    scheme: Any = detector.scheme
    for at in range(begin, begin + _MARKED):
        logits = scheme.bias(ids[at - scheme.context : at], rng.gumbel(size=_VOCABULARY))
        ids[at] = int(np.argmax(logits))


def _table(rows: Sequence[JsonObject], keys: int, tokens: int) -> Table:
    headings = [
        "texts of 200 tokens per second",
        f"seconds for {tokens:,} tokens, one key",
        "stretches",
    ]
    table = text_table(f"{keys:,} keys at once; all stretches", ["scheme"], headings)
    for row in rows:
        long = f"{row['long_text_seconds']:.2f}"
        found = f"{row['stretches']} of {row['marked']}"
        table.add_row(row["scheme"], f"{row['texts_per_second']:.0f}", long, found)
    return table


if __name__ == "__main__":
    sys.exit(main())
