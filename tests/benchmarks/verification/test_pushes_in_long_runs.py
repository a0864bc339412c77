"""Pushes in long runs: what is timed, and the table of it."""

from io import StringIO

from rich.console import Console

from benchmarks.verification.long_runs import long_runs, runs_table, time_pushes
from tests.support.tokenizers import TRAINED


def test_time_pushes_times_every_kind_of_run_at_each_length():
    timings = time_pushes(TRAINED["sp-bpe"](), "prefix", [9, 20])
    rows = [{"tokenizer": "small"} | row for row in timings]
    assert [row["kind"] for row in rows] == list(long_runs(1))
    assert all(list(row["seconds"]) == ["9", "20"] for row in rows)
    assert all(seconds > 0 for row in rows for seconds in row["seconds"].values())
    screen = Console(file=StringIO(), width=150)
    screen.print(runs_table(rows, [9, 20]))
    assert "last / first" in screen.file.getvalue()
    assert "one letter" in screen.file.getvalue()
