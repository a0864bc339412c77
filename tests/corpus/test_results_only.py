"""An output of results alone has one row per row of the source."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ticore.corpus import COLUMNS, Scan, Task, scan

TASK = Task("tiny-en", "left_hash", bytes(range(32)))


def test_results_are_those_of_the_whole_output(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    rows = [{"text": f"It was a cold morning, the {n} of May."} for n in range(5)]
    source.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"text": None}]) + "no\n")
    whole = Scan(source, "text", tmp_path / "whole.jsonl", batch_size=2)
    scan(whole, TASK, workers=1)
    expected = [
        {name: row[name] for name in COLUMNS}
        for row in map(json.loads, whole.output.read_text().splitlines())
    ]
    bare = replace(whole, output=tmp_path / "bare.jsonl", results_only=True)
    scan(bare, TASK, workers=1)
    assert [json.loads(line) for line in bare.output.read_text().splitlines()] == expected

    parquet = pytest.importorskip("pyarrow.parquet")
    scan(replace(bare, output=tmp_path / "bare.parquet"), TASK, workers=1)
    assert parquet.read_table(tmp_path / "bare.parquet").to_pylist() == expected


def test_columns_of_an_earlier_scan_are_no_obstacle(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps({"text": "It was a cold morning.", "verdict": "old"}) + "\n")
    found = Scan(source, "text", tmp_path / "out.jsonl", results_only=True)
    scan(found, TASK, workers=1)
    assert json.loads(found.output.read_text())["verdict"] == "no watermark found"
