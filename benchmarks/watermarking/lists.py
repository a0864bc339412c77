"""What a watermark costs per step of writing and per text of detection, by scheme and version.

python -m benchmarks.watermarking.lists

Every step of writing computes the softmax of the logits anyway, so the table also shows how many
times as long a step takes as the softmax. Times are CPU time on one thread; the fastest of several
rounds counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import time_in_turns
from benchmarks._harness.types import JsonObject
from ticore.schemes import SCHEMES, make_scheme

_KEY = bytes(range(32))
_TEXT_LENGTH = 200
_VARIANTS = [
    (name, greens, version)
    for name in SCHEMES
    for greens in (("independent",) if name == "gumbel" else ("independent", "exact"))
    for version in (1, 2)
]


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("watermarking.lists", __doc__)
    parser.add_argument("--size", type=positive_int, default=152_064, help="size of the vocabulary")
    parser.add_argument("--repeats", type=positive_int, default=30, help="rounds of timing")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=options.size).astype(np.float32)
    arrays: dict[str, Any] = {"numpy": logits}
    softmax: dict[str, Callable[[], object]] = {
        "numpy": lambda: np.exp(logits) / np.exp(logits).sum()
    }
    if find_spec("torch") is not None:
        torch = import_module("torch")
        torch.set_num_threads(1)
        arrays["torch"] = tensor = torch.tensor(logits)
        softmax["torch"] = lambda: tensor.softmax(-1)
    text = rng.integers(0, options.size, _TEXT_LENGTH)
    base = {name: _least_seconds(work, options.repeats) for name, work in softmax.items()}
    rows = []
    for name, greens, version in track(_VARIANTS, "schemes", len(_VARIANTS)):
        settings: dict[str, Any] = {} if name == "gumbel" else {"greens": greens}
        settings["version"] = version
        scheme = make_scheme(name, _KEY, options.size, **settings)
        context = [3, 1, 4, 1, 5][: scheme.context]
        step = {
            library: _least_seconds(partial(scheme.bias, context, array), options.repeats)
            for library, array in arrays.items()
        }
        detection = _least_seconds(partial(scheme.evidence, text), 5 * options.repeats)
        kind = {"scheme": name, "greens": greens, "version": version}
        rows.append(kind | {"step_seconds": step, "detection_seconds": detection})
    settings = {"size": options.size, "repeats": options.repeats}
    report = new_report(settings, complete=True) | {"softmax_seconds": base, "schemes": rows}
    return publish(options, report, rows, [_table(base, rows)])


def _table(base: dict[str, float], rows: Sequence[JsonObject]) -> Table:
    headings = [f"{library}, ms (× softmax)" for library in base]
    table = text_table(
        "Biasing one row of logits; scoring a text", ["scheme"], [*headings, "200 tokens, µs"]
    )
    for row in rows:
        steps = (
            f"{seconds * 1e3:.2f} ({seconds / base[library]:.1f})"
            for library, seconds in row["step_seconds"].items()
        )
        name = f"{row['scheme']}, {row['greens']}, version {row['version']}"
        table.add_row(name, *steps, f"{row['detection_seconds'] * 1e6:.0f}")
    return table


def _least_seconds(work: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of the fastest call, after one that fills the caches."""
    (seconds,) = time_in_turns([work], rounds, clock=process_time)
    return min(seconds)


if __name__ == "__main__":
    sys.exit(main())
