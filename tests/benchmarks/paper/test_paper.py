"""The command: it continues, it adds, and all workers give the same."""

import json

import pytest

from benchmarks.paper.__main__ import main

COMMAND = ["--parts", "investigation", "--models", "tiny-en", "--batch", "2", "--processes", "1"]


def rows(folder):
    lines = (folder / "samples" / "investigation-tiny-en.jsonl").read_text(encoding="utf-8")
    groups = [json.loads(line) for line in lines.splitlines()]
    return sorted((text["index"], text["text"]) for group in groups for text in group["texts"])


@pytest.mark.slow
def test_the_command_goes_on_after_it_was_killed_and_adds_samples(tmp_path):
    pytest.importorskip("matplotlib")
    assert main([*COMMAND, "--samples", "2", "--out", str(tmp_path)]) == 0
    first = rows(tmp_path)
    store = tmp_path / "samples" / "investigation-tiny-en.jsonl"
    with store.open("a", encoding="utf-8") as stream:
        stream.write('{"digest": "cut o')  # as kill -9 leaves it
    assert main([*COMMAND, "--samples", "3", "--out", str(tmp_path)]) == 0
    store.write_text(
        "".join(line for line in store.read_text().splitlines(keepends=True) if "cut o" not in line)
    )
    found = rows(tmp_path)
    assert [index for index, _ in found] == [0, 1, 2, 3]
    assert found[:2] == first
    report = json.loads((tmp_path / "results" / "investigation.json").read_text())
    assert report["models"][0]["results"]["text_count"] == 3
    assert "tiny-en (llama-2)" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_workers_of_ray_take_the_same_samples(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("ray")
    command = [*COMMAND, "--samples", "2"]
    assert main([*command, "--out", str(tmp_path / "here")]) == 0
    assert main([*command, "--engine", "ray", "--out", str(tmp_path / "ray")]) == 0
    assert rows(tmp_path / "here") == rows(tmp_path / "ray")
