"""The benchmark of methods: the same messages by each, and a divergence that counts lost texts."""

import pytest

from benchmarks.methods import plan
from benchmarks.methods.__main__ import main
from benchmarks.methods.summary import summarize


def _sample(index, given_up, token_count, kl_filter, **other):
    return {
        "index": index,
        "model": "toy",
        "method": "none",
        "failure": None,
        "recovered": True,
        "given_up": given_up,
        "bits": 100,
        "token_count": token_count,
        "kl_filter": kl_filter,
        "writer_passes": 1.0,
        "reader_passes": 1.0,
        "embed_seconds": 0.5,
        "extract_seconds": 0.25,
    } | other


def test_divergence_is_that_of_dropped_candidates_and_of_texts_given_up():
    failed = {"index": 2, "model": "toy", "method": "none", "failure": "no room"}
    [row] = summarize(
        [
            _sample(0, ["misread", "character"], 50, 0.02),
            _sample(1, [], 150, 0.0, recovered=False),
            failed,
        ]
    )
    assert (row["texts"], row["failed_count"], row["misread_count"]) == (2, 1, 1)
    assert (row["given_up"], row["reasons"]) == (0.5, {"misread": 1, "character": 1})
    assert row["bits_per_token"] == 1.0
    assert row["divergence_by_dropping"] == pytest.approx(0.5)
    assert row["divergence_by_giving_up"] == pytest.approx(1.0)
    assert row["divergence_per_text"] == pytest.approx(1.5)
    assert row["divergence_per_token"] == pytest.approx(1.5 / 100)
    assert row["embed_ms_per_token"] == pytest.approx((10 + 500 / 150) / 2)


def test_a_method_that_wrote_nothing_has_no_measures():
    [row] = summarize([{"index": 0, "model": "toy", "method": "mec", "failure": "no room"}])
    assert row == {"model": "toy", "method": "mec", "texts": 0, "failed_count": 1}


@pytest.mark.slow
def test_methods_write_the_same_messages_and_a_later_run_adds_to_them(tmp_path, run, monkeypatch):
    names = ("stepwise", "search", "huffman")
    monkeypatch.setattr(plan, "METHODS", {name: plan.METHODS[name] for name in names})
    figure, markdown = tmp_path / "methods.svg", tmp_path / "methods.md"
    command = ["--size", 1, "--out", tmp_path / "out.jsonl", "--plot", figure]
    assert run(main, *command, "--samples", 1).status == 0
    found = run(main, *command, "--samples", 2, "--markdown", markdown)
    assert [row["method"] for row in found.report["methods"]] == list(names)
    assert all((row["texts"], row["misread_count"]) == (2, 0) for row in found.report["methods"])
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6
    assert "<svg" in figure.read_text()
    assert markdown.read_text().count("\n| ") == 5
