"""The benchmark of what consistency adds to a step."""

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch

import ticore
from benchmarks._harness.corpora import load_corpora
from benchmarks.scaling.__main__ import main, table
from benchmarks.scaling.steps import PROMPT, WAYS, GuidedLogits, passages, seconds_per_step


@pytest.mark.slow
def test_scaling_reports_each_way_beside_the_forward_pass(tmp_path, run):
    plot = tmp_path / "scaling.svg"
    found = run(main, "--texts", 2, 3, "--steps", 2, "--passes", 1, "--plot", plot)
    assert found.status == 0
    assert [row["texts"] for row in found.report["steps"]] == [2, 3]
    for row in found.report["steps"]:
        seconds = row["seconds"]
        assert seconds.keys() == {"forward", *WAYS}
        whole = seconds["forward"] + seconds["nothing"]
        expected = (seconds["masks"] - seconds["nothing"]) / whole
        assert row["added"]["masks"] == pytest.approx(expected)
    assert "rollback adds" in found.printed
    assert table([]).row_count == 0
    assert plot.stat().st_size > 0


def test_gpu_that_is_not_there_is_refused_in_words(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["--device", "cuda"]) == 1
    assert "expected cuda where PyTorch sees a GPU, found none" in capsys.readouterr().err


def test_guided_logits_make_the_text_likely_wherever_a_row_stands():
    tokenizer = ticore.load_tokenizer("tiny-en")
    text = load_corpora([], None, ["English"])["English"]
    rows = passages(tokenizer, text, 2, 4, seed=0)
    noise = torch.randn(2, tokenizer.vocab_size, generator=torch.Generator().manual_seed(0))
    logits = GuidedLogits(rows, noise.clone())
    logits.push({0: 5, 1: 5})
    logits.push({1: 5})
    logits.rewind(1, 1)
    for row, ids in zip(torch.softmax(logits.table, dim=1), rows, strict=True):
        assert row[ids[PROMPT + 1]] > 0.9  # 99 %, but for its own noise


@pytest.mark.parametrize("way", WAYS)
def test_each_way_can_be_timed(way):
    tokenizer = ticore.load_tokenizer("tiny-en")
    text = load_corpora([], None, ["English"])["English"]
    rows = passages(tokenizer, text, 3, 2, seed=0)
    noise = torch.randn(3, tokenizer.vocab_size)
    seconds, passes = seconds_per_step(way, tokenizer, rows, noise, 2)
    assert seconds > 0
    # transformers' own loop reads the last token too here, which nothing follows.
    assert passes >= (1.0 if way in ("nothing", "masks") else 0.5)
