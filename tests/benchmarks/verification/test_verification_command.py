"""The four measurements of the command, with the bundled tokenizer."""

import pytest

from benchmarks.verification.__main__ import main
from tests.support.tokenizers import FRAGMENTS

TIMES = [
    *("--lengths", 6, "--passages", 1, "--steps", 2, "--sample", 8, "--loads", 1),
    *("--patience", 0.1),
]


@pytest.fixture
def texts(tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(FRAGMENTS), encoding="utf-8")
    return ["--texts", file]


@pytest.mark.slow
def test_command_times_and_shows_the_times_again(tmp_path, run, texts):
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    first = run(main, *TIMES, *texts, "--plot", tmp_path / "plot.svg")
    assert first.status == 0
    assert first.report["complete"]
    assert first.report["tokenizers"][0]["modes"]["prefix"]["lengths"]["6"]["table"]
    (tmp_path / "plot.svg").unlink()
    (tmp_path / "report.json").rename(tmp_path / "first.json")
    again = run(main, "--from-json", tmp_path / "first.json", "--plot", tmp_path / "plot.svg")
    assert again.status == 0
    assert again.printed == first.printed
    assert (tmp_path / "plot.svg").exists()


@pytest.mark.slow
def test_command_soaks_and_plays_no_case_twice(tmp_path, run, texts):
    command = ["--soak", 20, "--mode", "prefix", *texts, "--out", tmp_path / "cases.jsonl"]
    first = run(main, *command)
    assert first.status == 0
    assert sum(case["checks"] for case in first.report["cases"]) >= 20
    stored = (tmp_path / "cases.jsonl").read_text()
    assert run(main, *command).report["cases"] == first.report["cases"]
    assert (tmp_path / "cases.jsonl").read_text() == stored
    assert run(main, *command, "--seed", 14).report["cases"] != first.report["cases"]


@pytest.mark.slow
def test_command_soak_plays_other_cases_when_texts_are_others(tmp_path, run, texts):
    command = ["--soak", 5, "--mode", "prefix", "--out", tmp_path / "cases.jsonl"]
    run(main, *command, *texts)
    stored = (tmp_path / "cases.jsonl").read_text()
    run(main, *command)
    assert len((tmp_path / "cases.jsonl").read_text()) > len(stored)


def test_command_counts_rejections(run, texts):
    found = run(main, "--rejections", "--places", 30, "--mode", "prefix", *texts)
    assert found.status == 0
    (row,) = found.report["rejections"]
    assert (row["tokenizer"], row["mode"], row["token_count"]) == ("tiny-en", "prefix", 30)
    assert "tiny-en" in found.printed


def test_command_times_long_runs(run):
    found = run(main, "--runs", 9, 20)
    assert found.status == 0
    assert {tuple(row["seconds"]) for row in found.report["runs"]} == {("9", "20")}
    assert "one letter" in found.printed


@pytest.mark.parametrize("measurement", [["--runs", 9], ["--rejections"], [], ["--soak", 1]])
def test_command_says_what_was_skipped(tmp_path, run, measurement):
    wrong = ["--tokenizer", "sentencepiece:missing.model", "--out", tmp_path / "cases.jsonl"]
    found = run(main, *measurement, *wrong)
    assert found.status == 1
    assert list(found.report["skipped"]) == ["missing.model"]
    assert "missing.model was skipped" in found.printed


def test_command_says_that_a_file_is_no_report(tmp_path, run):
    found = run(main, "--from-json", tmp_path / "missing.json")
    assert found.status == 1
    assert "expected a report with times" in found.messages
