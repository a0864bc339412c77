"""What tests of benchmarks share: a fixture that runs a benchmark's command."""

import json
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Run:
    """What a command did.

    Attributes:
        status: its exit status.
        report: what it wrote with `--json`; None where it wrote nothing.
        printed: its results.
        messages: what it printed to stderr, on one line.
    """

    status: int
    report: Any
    printed: str
    messages: str


@pytest.fixture
def run(tmp_path, capsys):
    """A function that calls a benchmark's `main` with arguments and `--json`."""

    def run_main(main, *arguments):
        file = tmp_path / "report.json"
        file.unlink(missing_ok=True)
        status = main([*map(str, arguments), "--json", str(file)])
        captured = capsys.readouterr()
        report = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        return Run(status, report, captured.out, " ".join(captured.err.split()))

    return run_main


@pytest.fixture
def interrupt_after(monkeypatch):
    """A function that makes the next collection of samples end by Ctrl-C after some tasks."""
    from benchmarks._harness import collect  # noqa: PLC0415  # sets variables of the environment
    from benchmarks._harness.workers import carry_out  # noqa: PLC0415  # after the settings above

    def arrange(count):
        def interrupted(tasks, *how):
            yield from carry_out(tasks[:count], *how)
            raise KeyboardInterrupt

        monkeypatch.setattr(collect, "carry_out", interrupted)

    return arrange
