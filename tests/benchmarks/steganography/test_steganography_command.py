"""The command of the benchmark of steganography, with a real model."""

import pytest

from benchmarks.steganography.__main__ import main

COMMAND = ["--bits", "8", "--processes", "1", "--codecs", "discop", "--disambiguations", "none"]


@pytest.mark.slow
def test_command_continues_an_interrupted_run(tmp_path, monkeypatch, run):
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    out, picture = tmp_path / "out.jsonl", tmp_path / "plot.svg"
    command = [*COMMAND, "--out", out]
    assert run(main, *command, "--top-k", 64, "--samples", 1).status == 0
    first = out.read_text().splitlines()
    assert len(first) == 2
    out.write_text("\n".join([*first, first[0][:50]]))  # as if a process had been killed
    command += ["--top-k", 64, 4096, 9999, "--samples", 2]
    assert run(main, *command).status == 0
    lines = out.read_text().splitlines()
    assert lines[:2] == first
    assert len(lines) == 1 + 2 * 2 * 2
    monkeypatch.setattr("benchmarks._harness.collect.carry_out", None)
    again = run(main, *command, "--plot", picture)
    assert again.status == 0
    assert again.report["complete"]
    assert again.report["settings"]["top_k"] == [64, 4096]
    assert [cell["sample_count"] for cell in again.report["cells"]] == [2, 2, 2, 2]
    assert "discop" in picture.read_text(encoding="utf-8")
    assert "texts misread, 95 % interval" in again.printed


@pytest.mark.slow
def test_command_shows_what_there_is_when_it_is_interrupted(tmp_path, run, interrupt_after):
    interrupt_after(1)
    found = run(main, *COMMAND, "--top-k", 64, "--out", tmp_path / "out.jsonl")
    assert found.status == 130
    assert "1 texts of each kind" in found.printed
    assert "the same command continues from here" in found.messages


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--codecs", "morse"], "unknown codec 'morse': choose one of"),
        (["--disambiguations", "basic:oracle"], "expected one of basic, basic:bytes"),
        (["--temperature", "0"], "temperature: expected a finite number of at least 1e-06"),
        (["--model", "nowhere"], "no model is called 'nowhere'"),
        (["--data", "nowhere"], "expected prompts in"),
    ],
)
def test_command_says_at_once_what_cannot_be_measured(tmp_path, run, wrong, says):
    found = run(main, *COMMAND, *wrong, "--out", tmp_path / "out.jsonl")
    assert found.status == 1
    assert says in found.messages


@pytest.mark.parametrize("option", ["--samples", "--bits", "--processes", "--top-k"])
def test_command_refuses_numbers_below_1(option, capsys):
    with pytest.raises(SystemExit):
        main([option, "0"])
    assert "expected a whole number of at least 1, found '0'" in capsys.readouterr().err
