"""The benchmark of watermarks: its figures are right, and no sample is written twice."""

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.watermarking.__main__ import main
from benchmarks.watermarking.figures import _overhead, auroc, figures, interval
from benchmarks.watermarking.plan import ATTACKS, MASKED, NO_ROLLBACK, ROLLBACK, Plan
from benchmarks.watermarking.samples import Samples
from benchmarks.watermarking.tables import tables
from benchmarks.workers import written
from tests.models import ToyModel, ToyTokenizer

# "ab" cannot be written by pieces, so that plain sampling is inconsistent all the time.
LETTERS = ToyTokenizer([*"abcd", "ab", "cd", "<end>"])
MODEL = ToyModel(LETTERS, seed=1, sharpness=1.0, eos_ids={6})
PLAN = Plan(schemes=("unigram", "gumbel"), tokens=40, attacks=("replacement 0.3", "word drop 0.1"))


@pytest.fixture(scope="module")
def rows():
    samples = Samples(MODEL, PLAN, ["ba", "ddb"])
    return [samples.write(name, n) for n in range(6) for name in ("none", *PLAN.schemes)]


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auroc_is_the_share_of_pairs(positives, negatives):
    pairs = [(p > n) + (p == n) / 2 for p in positives for n in negatives]
    assert auroc(np.array(positives), np.array(negatives)) == pytest.approx(np.mean(pairs))


def test_the_interval_holds_the_area():
    rng = np.random.default_rng(1)
    positives, negatives = rng.normal(1, 1, 100), rng.normal(0, 1, 100)
    low, high = interval(positives, negatives)
    assert low < auroc(positives, negatives) < high
    assert 0.05 < high - low < 0.25  # Hanley and McNeil: about 4 standard errors of 0.034
    assert interval(positives + 100, negatives) == [1, 1]


def test_a_sample_says_what_was_written(rows):
    for row in rows:
        assert list(row["arms"]) == [ROLLBACK, NO_ROLLBACK, MASKED]
        for arm, text in row["arms"].items():
            ids = LETTERS.encode(text["text"])
            assert text["tokens_read"] == len(ids)
            assert text["consistent"] or text["tokens"] > text["tokens_read"]
            assert 0 < text["model_seconds"] < text["seconds"]
            assert text["scores"].keys() == (
                set(PLAN.schemes) if row["scheme"] == "none" else {row["scheme"]}
            )
            assert set(text["attacks"]) == (set() if row["scheme"] == "none" else {*PLAN.attacks})
            if arm == ROLLBACK:
                assert text["consistent"]
                assert text["nll"] == text["nll_read"]
            else:
                assert text["rollbacks"] == 0
            if arm == MASKED:
                assert (text["end"], text["tokens"]) == ("length", 40)
            prompt = LETTERS.encode(["ba", "ddb"][row["index"] % 2])
            nll = 0.0
            for n, token in enumerate(ids):
                logits = MODEL.logits_after([*prompt, *ids[:n]])
                nll += math.log(np.exp(logits).sum()) - logits[token]
            assert text["nll_read"] == pytest.approx(nll)


def test_a_sample_follows_from_its_number(rows):
    again = Samples(MODEL, PLAN, ["ba", "ddb"]).write("gumbel", 4)
    (before,) = [row for row in rows if (row["scheme"], row["index"]) == ("gumbel", 4)]
    for arm, text in again["arms"].items():
        for name in ("text", "scores", "attacks", "nll", "rollbacks"):
            assert text[name] == before["arms"][arm][name]


def test_figures(rows):
    found = json.loads(json.dumps(figures(rows, PLAN.schemes)))
    cells = {(row["scheme"], row["arm"]): row for row in found["written"]}
    assert len(cells) == 9
    strengths = [
        row["arms"][ROLLBACK]["scores"]["gumbel"]["strength"]
        for row in rows
        if row["scheme"] == "gumbel"
    ]
    cell = cells["gumbel", ROLLBACK]
    assert cell["strength"] == pytest.approx(np.mean(strengths))
    assert cell["strength_sd"] == pytest.approx(np.std(strengths, ddof=1))
    assert (cell["texts"], cell["inconsistent"]) == (6, 0)
    assert cell["perplexity"] == cell["perplexity_read"]
    plain = cells["none", MASKED]
    assert plain["inconsistent"] > 0.5
    assert plain["perplexity"] != plain["perplexity_read"]
    assert 0.5 < cells["unigram", ROLLBACK]["auroc"] <= 1
    assert "auroc" not in cells["none", ROLLBACK]
    assert len(found["unmarked"]) == 6
    assert len(found["attacked"]) == 2 * 3 * 2
    assert [row["scheme"] for row in found["overhead"]] == ["unigram", "gumbel", "none"]
    assert all(row["ratio"] > 0 for row in found["overhead"])
    ratios = [row["ratio"] for row in found["overhead"][:2]]
    assert min(ratios) <= found["overhead_of_all"]["ratio"] <= max(ratios)
    assert [table.row_count for table in tables(found)] == [9, 6, 12]


def test_what_rollback_takes():
    """By the token, since a text with rollback may end elsewhere; an interruption is nothing."""

    def text(seconds, tokens, forwards):
        return {"seconds": seconds, "tokens": tokens, "forwards": forwards}

    samples = [
        {
            ROLLBACK: text(slow * 0.1 * 10, 10, 9 + vain),
            NO_ROLLBACK: text(2.2, 20, 19),
            MASKED: text(2.7, 30, 29),
        }
        for slow, vain in ((1.01, 0), (1.03, 1), (1.02, 0), (9.0, 0), (1.00, 2))
    ]
    found = _overhead(samples)
    assert found["ratio"] == pytest.approx(1.02)
    assert found["mean"] == pytest.approx((1.01 + 1.03 + 1.02 + 9.0 + 1.00) / 5)
    assert found["mean_interval"][0] < found["mean"] < found["mean_interval"][1]
    assert found["in_vain"] == pytest.approx(0.6)
    low, high = found["interval"]
    assert low == pytest.approx(1.00)
    assert high > 8
    assert _overhead(samples[:1])["interval"] == [pytest.approx(1.01)] * 2
    assert _overhead([{ROLLBACK: samples[0][ROLLBACK]}]) == {"ratio": None}


def test_figures_of_an_interrupted_run(rows):
    for count in range(4):
        found = figures(rows[:count], PLAN.schemes)
        assert len(found["written"]) == 3 * count
        list(tables(found))


def test_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    """With a real model, cut off amid a line; then nothing is left to write."""
    pytest.importorskip("matplotlib")
    out, store, picture = (tmp_path / name for name in ("out.jsonl", "found.json", "figure.svg"))
    command = ["--schemes", "unigram", "--tokens", "8", "--processes", "1", "--out", str(out)]
    command += ["--json", str(store), "--plot", str(picture), "--attacks", "word swap 0.3"]
    assert main([*command, "--samples", "1"]) == 0
    first = out.read_text().splitlines()
    assert len(first) == 2
    out.write_text("\n".join([*first, first[0][:50]]))
    assert main([*command, "--samples", "2"]) == 0
    lines = out.read_text().splitlines()
    assert lines[:2] == first
    assert len(lines) == 5
    with monkeypatch.context() as patch:
        patch.setattr("benchmarks.running.written", None)
        assert main([*command, "--samples", "2"]) == 0
    found = json.loads(store.read_text())
    assert found["complete"]
    assert {row["texts"] for row in found["written"]} == {2}
    assert "no rollback" in picture.read_text(encoding="utf-8")
    assert "word swap 0.3" in capsys.readouterr().out


def test_an_interrupted_run_shows_what_there_is(tmp_path, monkeypatch, capsys):
    def interrupted(tasks, *how):
        yield from written(tasks[:2], *how)
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.running.written", interrupted)
    command = ["--schemes", "gumbel", "--tokens", "8", "--processes", "1", "--samples", "9"]
    assert main([*command, "--out", str(tmp_path / "out.jsonl")]) == 130
    caught = capsys.readouterr()
    assert "gumbel" in caught.out
    assert "the same command goes on from here" in caught.err


def test_names_of_attacks_are_their_own():
    for name, make in ATTACKS.items():
        assert make(MODEL, random.Random(1)).name == name
