"""The benchmark of sizes: frames and texts get shorter from way to way."""

import pytest

from benchmarks.sizes import __main__ as sizes
from benchmarks.sizes.ways import WAYS


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


def test_summarize_gives_means():
    sample = {"model": "m", "kind": "k", "way": "w", "message_bytes": 5, "seconds": 1.0}
    few = sample | {"frame_bytes": 10, "token_count": 20, "all_tokens": 30, "is_read": True}
    more = sample | {"frame_bytes": 20, "token_count": 40, "all_tokens": 50, "is_read": False}
    [row] = sizes.summarize([few, more])
    assert (row["texts"], row["read"], row["frame_bytes"]) == (2, 1, 15)
    assert row["bits_per_token"] == 4
    assert (row["least_tokens"], row["most_tokens"]) == (31, 49)
