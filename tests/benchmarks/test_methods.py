"""The benchmark of methods: the same messages by each, and a divergence that counts lost texts."""

import pytest

from benchmarks.methods.__main__ import main
from benchmarks.methods.summary import summarize


def _sample(index, given_up, token_count, kl_filter, **other):
    return {
        "index": index,
        "model": "toy",
        "kind": "prose",
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
    failed = _sample(2, [], 0, 0.0, failure="no room")
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
    task = {"model": "toy", "kind": "prose", "method": "mec"}
    [row] = summarize([{"index": 0, "failure": "no room"} | task])
    assert row == task | {"texts": 0, "failed_count": 1}


@pytest.mark.slow
def test_methods_write_the_same_messages_and_a_later_run_adds_to_them(tmp_path, run):
    names = ("stepwise", "search", "huffman")
    figure, markdown = tmp_path / "methods.svg", tmp_path / "methods.md"
    command = ["--size", 1, "--out", tmp_path / "out.jsonl", "--plot", figure]
    for name in names:
        command += ["--method", name]
    assert run(main, *command, "--samples", 1).status == 0
    found = run(main, *command, "--samples", 2, "--markdown", markdown)
    assert [row["method"] for row in found.report["methods"]] == list(names)
    assert all((row["texts"], row["misread_count"]) == (2, 0) for row in found.report["methods"])
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 6
    assert "<svg" in figure.read_text()
    assert markdown.read_text().count("\n| ") == 5


@pytest.mark.slow
def test_each_kind_of_text_has_rows_of_its_own(tmp_path, run):
    command = ["--size", 1, "--samples", 1, "--out", tmp_path / "out.jsonl", "--method", "stepwise"]
    found = run(main, *command, "--kind", "prose", "--kind", "lists", "--kind", "code")
    rows = found.report["methods"]
    assert [(row["kind"], row["texts"]) for row in rows] == [
        ("prose", 1),
        ("lists", 1),
        ("code", 1),
    ]
