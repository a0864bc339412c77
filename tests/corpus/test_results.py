"""A scan for a scheme with a payload writes the payload of each text with a watermark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ticore
from ticore.corpus import AnyPayloadResult, AnyTask, PayloadResult, Result, Scan, Task, scan
from ticore.errors import InputFileError

KEY, OTHER = bytes(range(32)), bytes(32)
SETTINGS = {"scheme": "gumbel_payload", "payload_bits": 8}
PAYLOADS = ("a7", "01")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Two with a payload, and one without a watermark."""
    model = ticore.load_model("tiny-en")
    marked = [
        ticore.Watermarker(model, **SETTINGS, key=KEY, payload=payload, seed=1)
        .generate("It was", max_new_tokens=60)
        .text
        for payload in PAYLOADS
    ]
    return [*marked, "It was a cold morning, and nobody had thought of bringing any wood."]


def scanned(folder: Path, texts: Sequence[str], task: Task | AnyTask, name: str) -> list[Any]:
    source = folder / "rows.jsonl"
    rows = [{"text": text} for text in [*texts, None]]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = folder / name
    found = scan(Scan(source, "text", output, results_only=True), task, workers=1)
    assert (found.rows, found.watermarked, found.errors) == (4, 2, 1)
    if output.suffix == ".jsonl":
        return [json.loads(line) for line in output.read_text().splitlines()]
    return list(pytest.importorskip("pyarrow.parquet").read_table(output).to_pylist())


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_a_scan_writes_the_payload(tmp_path: Path, texts: list[str], name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    task = Task("tiny-en", "gumbel_payload", KEY, settings={"payload_bits": 8})
    rows = scanned(tmp_path, texts, task, name)
    detector = task.open()
    for text, row in zip(texts, rows, strict=False):
        found = detector.detect(text)
        assert row == PayloadResult.of(found)._asdict()
        assert {name: row[name] for name in Result._fields} == Result.of(found)._asdict()
    assert [row["payload"] for row in rows] == [*PAYLOADS, None, None]
    assert all(row["payload_confidence"] > 0.9 for row in rows[:2])
    assert [row["payload_confidence"] for row in rows[2:]] == [None, None]
    assert rows[3]["error"] is not None


def test_a_scan_for_a_list_writes_the_payload(tmp_path: Path, texts: list[str]) -> None:
    given = (SETTINGS | {"key": KEY}, SETTINGS | {"key": OTHER}, {"scheme": "gumbel", "key": KEY})
    rows = scanned(tmp_path, texts, AnyTask("tiny-en", given), "out.jsonl")
    assert list(rows[0]) == list(AnyPayloadResult._fields)
    assert [row["payload"] for row in rows] == [*PAYLOADS, None, None]


def test_columns_stay_as_they_are_without_a_payload(tmp_path: Path) -> None:
    assert Task("tiny-en", "gumbel", KEY).result is Result
    agreement = ticore.WatermarkAgreement.new("tiny-en", "gumbel", key=KEY)
    assert "payload" not in AnyTask("tiny-en", (agreement,)).result._fields
    agreement = ticore.WatermarkAgreement.new("tiny-en", **SETTINGS, key=KEY)
    assert "payload" in AnyTask("tiny-en", (agreement,)).result._fields


def test_a_payload_replaces_no_column(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"text": "It was late.", "payload": 1}\n')
    given = Scan(source, "text", tmp_path / "out.jsonl")
    with pytest.raises(InputFileError, match="'payload'"):
        scan(given, Task("tiny-en", "gumbel_payload", KEY), workers=1)
    scan(given, Task("tiny-en", "gumbel", KEY), workers=1)
