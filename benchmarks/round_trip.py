"""Random messages into text and back: are all recovered, at how many bits a token, how fast.

python -m benchmarks.round_trip --count 1000

Each message is written by one process's model and read by a fresh Steganographer. Results go to
results/round_trip.jsonl, a line a message; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import ticore
from ticore.interfaces import LanguageModel

PROMPTS = (
    "The morning was cold and",
    "It was late in the evening when",
    "She opened the letter, and",
    "Nobody in the village had ever",
)
_model: LanguageModel


def _open(place: str) -> None:
    global _model  # noqa: PLW0603  # one model a process, opened once
    _model = ticore.load_model(place)


def _trip(task: tuple[int, int, int]) -> dict[str, object]:
    """Write and read message number `index`; its bytes, key and prompt follow from the number."""
    index, size, top_k = task
    rng = np.random.default_rng([2026, index])
    message, key = rng.bytes(size), rng.bytes(32)
    settings: dict[str, Any] = {"key": key, "prompt": PROMPTS[index % len(PROMPTS)], "top_k": top_k}
    written = ticore.Steganographer(_model, **settings).embed_report(message)
    started = time.perf_counter()
    recovered = ticore.Steganographer(_model, **settings).extract(written.text)
    return {
        "index": index,
        "recovered": recovered == message,
        "bits": written.bits,
        "tokens": written.tokens,
        "bits_per_token": written.bits_per_token,
        "kl_filter": written.kl_filter,
        "embed_seconds": written.seconds,
        "extract_seconds": time.perf_counter() - started,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="messages")
    parser.add_argument("--size", type=int, default=16, help="bytes a message")
    parser.add_argument("--top-k", type=int, default=64)
    parser.add_argument("--model", default="tiny-en")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("results/round_trip.jsonl"))
    given = parser.parse_args()

    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.touch()
    kind = {"model": given.model, "size": given.size, "top_k": given.top_k}
    rows = [json.loads(line) for line in given.out.read_text().splitlines()]
    rows = [row for row in rows if kind.items() <= row.items()]
    done = {row["index"] for row in rows}
    tasks = [(i, given.size, given.top_k) for i in range(given.count) if i not in done]
    with (
        multiprocessing.get_context("spawn").Pool(given.processes, _open, (given.model,)) as pool,
        given.out.open("a") as file,
    ):
        for row in track(pool.imap_unordered(_trip, tasks), "messages", len(tasks)):
            file.write(json.dumps(kind | row) + "\n")
            file.flush()
            rows.append(row)
    _summarize([row for row in rows if row["index"] < given.count])


def _summarize(rows: list[dict[str, float]]) -> None:
    table = Table("measure", "mean", "5 %", "95 %", title=f"{len(rows)} messages")
    for name in ("bits_per_token", "tokens", "kl_filter", "embed_seconds", "extract_seconds"):
        values = np.array([row[name] for row in rows])
        low, high = np.quantile(values, [0.05, 0.95])
        table.add_row(name, *(f"{v:.4g}" for v in (values.mean(), low, high)))
    console = Console()
    console.print(table)
    console.print(f"recovered: {sum(bool(row['recovered']) for row in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
