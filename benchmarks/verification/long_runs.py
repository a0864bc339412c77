"""What a push takes in a long run: text in which no boundary settles, by its length."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks._harness.environment import one_core
from benchmarks._harness.number_format import duration, ratio
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verifier
from ticore.interfaces import Tokenizer

from .modes import modes_to_time
from .per_tokenizer import finish, measure_each
from .tokenizer_sources import TokenizerSource

LENGTHS = (250, 1_000, 4_000, 20_000)
"""Characters of a run."""

_TIMED_TOKENS = 200  # at the end of a run, at most; and no more than a tenth of the run
_ROUNDS = 3  # of which the fastest counts

_FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def run(options: argparse.Namespace) -> int:
    """Time pushes with all tokenizers."""
    lengths = options.runs or list(LENGTHS)
    modes = modes_to_time(options.mode)

    def measure(source: TokenizerSource) -> Iterator[JsonObject]:
        tokenizer = source.open()
        for mode in modes:
            timings = time_pushes(tokenizer, mode, lengths)
            for row in track(timings, f"{source.name} {mode}", len(long_runs(1))):
                yield {"tokenizer": source.name} | row

    report = new_report({"lengths": lengths, "modes": modes}, complete=False)
    with one_core():
        rows = measure_each(options, report, "runs", measure)
    return finish(options, report, rows, [runs_table(rows, lengths)])


def long_runs(length: int) -> dict[str, str]:
    """Runs of about `length` characters, by what they consist of."""
    draw = random.Random(0)

    def mixed(characters: str) -> str:
        return "".join(draw.choices(characters, k=length))

    return {
        "Chinese": mixed("".join(map(chr, range(0x4E00, 0x9000)))),
        "DNA": mixed("ACGT"),
        "one letter": "a" * length,
        "digits": mixed("0123456789"),
        "equals signs": "=" * length,
        "spaces": "x" + " " * (length - 1),
        "line feeds": "\n" * length,
        "line ends": "\r\n" * (length // 2),
        "white space": "x" + mixed(" \t\n"),
        "emoji": _FAMILY * (length // len(_FAMILY)),
        "marks": "o" + "\u0316" * (length - 1),
    }


def time_pushes(
    tokenizer: Tokenizer, mode: Mode, lengths: Sequence[int] = LENGTHS
) -> Iterator[JsonObject]:
    """For each kind of run: the CPU seconds of a push near its end, by the run's length."""
    verifier = Verifier(tokenizer, mode=mode)
    for kind in long_runs(1):
        seconds = {
            str(length): _push_seconds(verifier, tokenizer.encode(long_runs(length)[kind]))
            for length in lengths
        }
        yield {"mode": mode, "method": verifier.method, "kind": kind, "seconds": seconds}


def _push_seconds(verifier: Verifier, ids: Sequence[int]) -> float:
    count = max(1, min(_TIMED_TOKENS, len(ids) // 10))
    verification = verifier.start()
    for token in ids[:-count]:
        verification.push(token)
    least = float("inf")
    for _ in range(_ROUNDS):
        started = time.process_time()
        for token in ids[-count:]:
            verification.push(token)
        least = min(least, (time.process_time() - started) / count)
        verification.rewind(count)
    return least


def runs_table(rows: Sequence[JsonObject], lengths: Sequence[int]) -> Table:
    """The time of a push, with a column per length."""
    table = text_table(
        "A push near the end of a run without a boundary, by the run's characters (CPU time)",
        ["tokenizer", "method", "run"],
        [*(f"{length:,}" for length in lengths), "last / first"],
    )
    above = ""
    for row in rows:
        name = f"{row['tokenizer']} {row['mode']}"
        times = list(row["seconds"].values())
        method = "" if name == above else row["method"]
        cells = [*map(duration, times), ratio(times[-1] / times[0])]
        table.add_row(without_repeats(name, above), method, row["kind"], *cells)
        above = name
    return table
