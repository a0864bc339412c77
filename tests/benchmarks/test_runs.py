"""Pushes in long runs: what is timed, and the table of it."""

from io import StringIO

from rich.console import Console

from benchmarks.verification.runs import push_in_runs, runs
from benchmarks.verification.tables import runs_table
from tests.tokenizers import TRAINED


def test_every_kind_of_run_is_timed_at_each_length():
    rows = [
        {"tokenizer": "small"} | row for row in push_in_runs(TRAINED["sp-bpe"](), "prefix", [9, 20])
    ]
    assert [row["kind"] for row in rows] == list(runs(1))
    assert all(list(row["seconds"]) == ["9", "20"] for row in rows)
    assert all(seconds > 0 for row in rows for seconds in row["seconds"].values())
    screen = Console(file=StringIO(), width=150)
    screen.print(runs_table(rows, [9, 20]))
    assert "last / first" in screen.file.getvalue()
    assert "one letter" in screen.file.getvalue()
