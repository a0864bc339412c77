"""The benchmark of edited texts: messages survive what they are written for."""

from random import Random

import pytest

import ticore
from benchmarks.edits.__main__ import WAYS, main, summarize, table
from benchmarks.edits.attack import edited
from benchmarks.edits.figure import draw
from benchmarks.edits.samples import Plan, make_worker
from ticore.errors import CapacityError


@pytest.mark.slow
def test_messages_survive_the_edits_they_are_written_for(tmp_path, run):
    plot = tmp_path / "edits.svg"
    arguments = ("--samples", 1, "--size", 1, "--ways", 2, "--shares", 0, 0.02, "--plot", plot)
    found = run(main, *arguments, "--out", tmp_path / "x.jsonl")
    assert found.status == 0
    plain, surviving = found.report["ways"]
    assert plain["read"][0] == surviving["read"][0] == 1
    assert surviving["read"][1] == 1
    assert surviving["tokens_per_text"] > plain["tokens_per_text"]
    assert "Messages read, by edited tokens" in found.printed
    assert plot.stat().st_size > 0


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_share_of_tokens_is_edited(share):
    tokenizer = ticore.load_model("tiny-en").tokenizer
    text = "A line of words that somebody wrote and nobody has read yet, " * 20
    found = tokenizer.encode(edited(text, tokenizer, share, Random(1)))
    ids = tokenizer.encode(text)
    # As many are dropped as put in.
    assert abs(len(found) - len(ids)) <= len(ids) / 4
    assert (found == ids) == (share == 0)


def test_messages_that_cannot_be_sent_are_counted_and_the_run_goes_on(monkeypatch, tmp_path):
    def embed(self, _):
        raise CapacityError("no place")

    monkeypatch.setattr(ticore.Steganographer, "embed", embed)
    sample = make_worker(Plan(), ["It was"])(*WAYS[1], 3)
    assert sample["number"] == 3
    assert sample["refused"] == "no place"
    [row] = summarize([sample])
    assert (row["refused"], row["texts"]) == (1, 0)
    report = {"ways": [row], "settings": {"shares": [0.0]}}
    assert table(report).row_count == 1
    draw(report, tmp_path / "edits.svg")


def test_summarize_counts_messages_by_share():
    window, edits = WAYS[1]
    sample = {"window": window, "edits": edits, "size": 16, "token_count": 100, "seconds": 2.0}
    of_each = [sample | {"read": [True, False]}, sample | {"read": [True, True]}]
    [row] = summarize([*of_each, {"window": window, "edits": edits, "refused": "no place"}])
    assert row["refused"] == 1
    assert row["message_bits_per_token"] == 1.28
    assert row["read"] == [2, 1]


@pytest.mark.parametrize("share", ["5", "-0.1", "nan", "half"])
def test_a_share_beyond_all_tokens_is_refused(share, capsys):
    with pytest.raises(SystemExit):
        main(["--shares", share])
    assert "expected a number from 0 to 1" in capsys.readouterr().err
