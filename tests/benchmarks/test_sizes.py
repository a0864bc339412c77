"""The benchmark of sizes: frames and texts get shorter from way to way."""

import pytest

import ticore
from benchmarks.sizes import __main__ as sizes
from benchmarks.sizes.samples import Plan, make_worker
from benchmarks.sizes.ways import WAYS
from ticore.errors import CapacityError


@pytest.mark.slow
def test_every_message_is_read_and_compact_frames_are_smaller(tmp_path, run, monkeypatch):
    some = {name: WAYS[name] for name in ("standard", "compact, short")}
    monkeypatch.setattr(sizes, "WAYS", some)
    monkeypatch.setattr(sizes, "KINDS", ("hello",))
    arguments = ("--samples", 1, "--processes", 1, "--out", tmp_path / "x.jsonl")
    found = run(sizes.main, *arguments)
    assert found.status == 0
    standard, compact = found.report["sizes"]
    assert (standard["read"], compact["read"]) == (1, 1)
    assert standard["message_bytes"] == compact["message_bytes"] == 5
    assert standard["frame_bytes"] > 5 + 21 > compact["frame_bytes"] + 9
    assert standard["token_count"] > compact["token_count"]
    assert "How long texts get" in found.printed


def test_messages_that_cannot_be_sent_are_counted_and_the_run_goes_on(monkeypatch):
    def embed(self, _):
        raise CapacityError("no place")

    monkeypatch.setattr(ticore.Steganographer, "embed", embed)
    sample = make_worker(Plan(), {"tiny-en": ["It was"]})("tiny-en", "hello", "standard", 3)
    assert sample["number"] == 3
    assert sample["refused"] == "no place"
    [row] = sizes.summarize([sample])
    assert (row["refused"], row["texts"]) == (1, 0)
    assert sizes.table({"sizes": [row]}).row_count == 1


def test_summarize_gives_means():
    sample = {"model": "m", "kind": "k", "way": "w", "message_bytes": 5, "seconds": 1.0}
    few = sample | {"frame_bytes": 10, "token_count": 20, "all_tokens": 30, "is_read": True}
    more = sample | {"frame_bytes": 20, "token_count": 40, "all_tokens": 50, "is_read": False}
    [row] = sizes.summarize([few, more, {**few, "refused": "no place"}])
    assert row["refused"] == 1
    assert (row["texts"], row["read"], row["frame_bytes"]) == (2, 1, 15)
    assert row["bits_per_token"] == 4
    assert (row["least_tokens"], row["most_tokens"]) == (31, 49)
