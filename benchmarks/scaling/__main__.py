"""The command line: time all ways with each tokenizer and each number of texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from rich.table import Table

import ticore
from benchmarks._harness.cli import command, exit_status, positive_int
from benchmarks._harness.corpora import load_corpora
from benchmarks._harness.environment import one_core
from benchmarks._harness.number_format import duration
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject
from ticore.errors import SettingsError

from . import __doc__ as usage
from .figure import draw
from .forward import SmallLlama
from .steps import WAYS, passages, seconds_per_step

_MOST_LOGITS = 1 << 27  # in a batch: 512 MB, of which a step makes some copies


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("scaling", usage, plot=True)
    parser.add_argument(
        "--tokenizer", nargs="+", default=["tiny-en"], metavar="PLACE", help="to measure with"
    )
    parser.add_argument("--texts", type=positive_int, nargs="+", default=[1, 4, 16, 64, 256, 1024])
    parser.add_argument("--steps", type=positive_int, default=8, help="tokens per text")
    parser.add_argument("--passes", type=positive_int, default=3, help="forward passes to time")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds corpora/")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: a GPU")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    settings = {name: getattr(options, name) for name in ("texts", "steps", "passes", "seed")}
    device = _opened(options.device)
    settings["device"] = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    report = new_report(settings, complete=True) | {"steps": []}
    with one_core():
        for place in options.tokenizer:
            report["steps"] += _measure(place, options, device)
    return publish(options, report, report["steps"], [table(report["steps"])], draw)


def _opened(name: str) -> torch.device:
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError(
            "--device: expected cuda where PyTorch sees a GPU, found none; give cpu"
        )
    return torch.device(name)


def _measure(place: str, options: argparse.Namespace, device: torch.device) -> Iterator[JsonObject]:
    tokenizer = ticore.load_tokenizer(place)
    size = tokenizer.vocab_size
    text = load_corpora([], options.data, ["English"])["English"]
    network = SmallLlama(size, device)
    counts = [rows for rows in options.texts if rows * size <= _MOST_LOGITS]
    for rows in track(counts, place, len(counts)):
        torch.manual_seed(options.seed)
        noise = torch.randn(rows, size).to(device)
        table = torch.empty_like(noise)  # made once: each way writes its logits over it
        first, second = (
            passages(tokenizer, text, rows, options.steps, options.seed + n) for n in range(2)
        )
        seconds = {"forward": network.seconds_per_pass(rows, options.passes)}
        passes = {}
        for way in WAYS:  # first with other texts, since an engine has served some before
            seconds_per_step(way, tokenizer, first, table.copy_(noise), options.steps)
            seconds[way], passes[way] = seconds_per_step(
                way, tokenizer, second, table.copy_(noise), options.steps
            )
        whole = seconds["forward"] + seconds["nothing"]
        yield {
            "tokenizer": place,
            "vocabulary": size,
            "texts": rows,
            "seconds": seconds,
            "passes": passes,
            "added": {way: (seconds[way] - seconds["nothing"]) / whole for way in WAYS[1:]},
        }


def table(rows: Sequence[JsonObject]) -> Table:
    """The seconds of a step, what each way adds to it, and passes per token with rollback."""
    headings = ["texts", "forward", *WAYS, *(f"{way} adds" for way in WAYS[1:])]
    headings.append("passes of rollback")
    found = text_table("A step of generation", ["ids"], headings)
    for row in rows:
        found.add_row(
            f"{row['vocabulary']:,}",
            f"{row['texts']:,}",
            *(duration(value) for value in row["seconds"].values()),
            *(f"{value:.1%}" for value in row["added"].values()),
            f"{row['passes']['rollback']:.2f}",
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
