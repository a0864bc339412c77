"""The benchmark of round trips: messages come back, and none is written twice."""

import json

import pytest

from benchmarks.round_trip import __main__ as round_trip
from benchmarks.round_trip.__main__ import main, summarize


@pytest.mark.slow
def test_round_trip_recovers_messages_and_continues(tmp_path, run):
    out = tmp_path / "out.jsonl"
    command = ["--size", 1, "--processes", 1, "--disambiguation", "search", "--out", out]
    assert run(main, *command, "--count", 1).report["sample_count"] == 1
    first = out.read_text()
    found = run(main, *command, "--samples", 2)
    assert found.status == 0
    assert (found.report["recovered_count"], found.report["sample_count"]) == (2, 2)
    assert found.report["measures"].keys() >= {"bits_per_token", "embed_seconds"}
    assert found.report["measures"]["reader_passes"]["low"] >= 0.9
    assert "2 of 2 messages recovered" in found.printed
    assert out.read_text().startswith(first)
    assert len(out.read_text().splitlines()) == 2


@pytest.mark.slow
def test_messages_are_written_side_by_side_and_read_by_another_backend(tmp_path, run):
    command = ["--size", 1, "--processes", 1, "--batch", 2, "--samples", 3]
    found = run(main, *command, "--reader", "torch:tiny-en", "--out", tmp_path / "out.jsonl")
    assert found.status == 0
    assert (found.report["recovered_count"], found.report["sample_count"]) == (3, 3)
    groups = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    texts = [text for group in groups for text in group["texts"]]
    assert [text["index"] for text in texts] == [0, 1, 2]
    assert len({text["prompt"] for text in texts}) == 3


@pytest.mark.slow
def test_a_message_takes_several_texts(tmp_path, run):
    command = ["--size", 2, "--part-size", 1, "--processes", 1, "--samples", 1, "--batch", 2]
    found = run(main, *command, "--out", tmp_path / "out.jsonl")
    assert (found.status, found.report["recovered_count"]) == (0, 1)
    (message,) = json.loads((tmp_path / "out.jsonl").read_text())["texts"]
    assert len(message["texts"]) == 2


@pytest.mark.slow
def test_round_trip_shows_nothing_when_it_is_interrupted_at_once(tmp_path, run, interrupt_after):
    interrupt_after(0)
    found = run(main, "--processes", 1, "--out", tmp_path / "out.jsonl")
    assert found.status == 130
    assert found.report["measures"] == {}


def test_summarize_gives_means_and_quantiles():
    names = ("bits_per_token", "token_count", "kl_filter", "embed_seconds", "extract_seconds")
    samples = [
        dict.fromkeys(names, float(n)) | {"recovered": n > 0, "given_up": ["misread"] * (n % 2)}
        for n in range(101)
    ]
    found = summarize(samples)
    assert (found["sample_count"], found["recovered_count"]) == (101, 100)
    assert found["measures"]["kl_filter"] == pytest.approx(
        {"mean": 50, "low": 5, "median": 50, "high": 95}
    )
    assert found["given_up"] == {"misread": 50}


def test_a_message_that_no_text_can_carry_is_counted_as_refused(tmp_path, monkeypatch, run):
    """Another machine might round the first logit after this prompt differently, in every text."""
    prompt = (
        "Has anyone noticed that this season, among the multi-thousand dollar bags and "
        "over-the-top looks, Marc Jacobs has quietly released several simpler, more classic bags "
        "that retail"
    )
    monkeypatch.setattr(round_trip, "chosen_prompts", lambda *_: [prompt, "It was late."])
    command = ["--size", 1, "--processes", 1, "--batch", 2, "--samples", 2]
    found = run(main, *command, "--out", tmp_path / "out.jsonl")
    counts = [found.report[f"{name}_count"] for name in ("sample", "recovered", "refused")]
    assert (found.status, counts) == (0, [2, 1, 1])
    (group,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert "choose another prompt" in group["texts"][0]["refused"]
    assert "1 of 2 messages recovered, 1 refused by the writer" in found.printed


def test_a_refused_message_does_not_end_a_run_that_takes_them_one_by_one(tmp_path, run):
    command = ["--size", 5000, "--processes", 1, "--batch", 1, "--samples", 2]
    found = run(main, *command, "--out", tmp_path / "out.jsonl")
    counts = [found.report[f"{name}_count"] for name in ("sample", "recovered", "refused")]
    assert (found.status, counts) == (0, [2, 0, 2])
    assert "0 of 2 messages recovered, 2 refused by the writer" in found.printed
