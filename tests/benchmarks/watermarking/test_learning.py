"""What an observer learns: more from more texts, and nothing about version 2 by trying."""

import argparse
import gzip
from pathlib import Path

import pytest

from benchmarks.watermarking import learning


@pytest.mark.slow
def test_learning_tells_what_counting_and_trying_give(tmp_path, run, monkeypatch):
    monkeypatch.setattr(learning, "TEXT_COUNTS", (1, 1000))
    file = tmp_path / "text.gz"
    file.write_bytes(gzip.compress(Path(argparse.__file__).read_bytes()))
    found = run(learning.main, "--text", file, "--characters", 20_000, "--bits", 6)
    assert found.status == 0
    for scheme in ("unigram", "left_hash"):
        few, many = (row for row in found.report["counting"] if row["scheme"] == scheme)
        assert few["right_of_tokens"] < many["right_of_tokens"] <= 1
    assert [row["right"] for row in found.report["trying"]] == [True, True, False, False]
    assert "By trying 2^6 seeds" in found.printed


@pytest.mark.parametrize("text", [None, "a"])
def test_learning_says_that_a_file_has_no_text(tmp_path, run, text):
    file = tmp_path / "text.txt"
    if text is not None:
        file.write_text(text)
    found = run(learning.main, "--text", file)
    assert found.status == 1
    assert "expected a text in" in found.messages
