"""The command of the benchmark of watermarking, with a real model."""

import pytest

from benchmarks.watermarking.__main__ import main

COMMAND = ["--tokens", "8", "--processes", "1"]


@pytest.mark.slow
def test_command_continues_an_interrupted_run(tmp_path, monkeypatch, run):
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    out, picture = tmp_path / "out.jsonl", tmp_path / "plot.svg"
    command = [*COMMAND, "--schemes", "unigram", "--attacks", "word swap 0.3", "--out", out]
    assert run(main, *command, "--samples", 1).status == 0
    first = out.read_text().splitlines()
    assert len(first) == 2
    out.write_text("\n".join([*first, first[0][:50]]))  # as if a process had been killed
    assert run(main, *command, "--samples", 2).status == 0
    lines = out.read_text().splitlines()
    assert lines[:2] == first
    assert len(lines) == 5
    monkeypatch.setattr("benchmarks._harness.collect.carry_out", None)
    again = run(main, *command, "--samples", 2, "--plot", picture)
    assert again.status == 0
    assert again.report["complete"]
    assert {entry["text_count"] for entry in again.report["written"]} == {2}
    assert "no rollback" in picture.read_text(encoding="utf-8")
    assert "word swap 0.3" in again.printed


@pytest.mark.slow
def test_command_shows_what_there_is_when_it_is_interrupted(tmp_path, run, interrupt_after):
    interrupt_after(2)
    command = [*COMMAND, "--schemes", "gumbel", "--samples", 9, "--out", tmp_path / "out.jsonl"]
    found = run(main, *command)
    assert found.status == 130
    assert "gumbel" in found.printed
    assert "the same command continues from here" in found.messages
