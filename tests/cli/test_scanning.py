"""`ticore detect --column`: files of many texts on the command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Literal
from unittest.mock import ANY

import pytest

from ticore import WatermarkDetector, load_tokenizer
from ticore.schemes import key_fingerprint

from .conftest import Ticore, interrupted

KEY = bytes(range(32))
SETTINGS = ("--key-file", "K", "--scheme", "gumbel", "--column", "text")
PLAIN = "It was a cold morning, and nobody had thought of bringing any wood into the house."


@pytest.fixture(autouse=True)
def _files() -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(KEY.hex() + "\n")
    rows = [{"text": PLAIN}, {"text": None}, {"text": "a"}, {"text": PLAIN, "id": 4}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("nothing.jsonl").touch()


def test_detect_writes_the_file_again_when_a_column_is_given(ticore: Ticore) -> None:
    found = ticore("detect", *SETTINGS, "rows.jsonl")
    assert (found.status, found.err) == (0, "")
    lines = [line for line in found.out.decode().splitlines() if not line.startswith(" ")]
    shown = dict(line.rstrip().rsplit("  ", 1) for line in lines)
    assert {name.strip(): value.strip() for name, value in shown.items()} | {"rows": ""} == {
        "written": "rows.detected.jsonl",
        "rows": "",
        "watermarked": "0",
        "in part": "0",
        "none found": "2",
        "errors": ANY,
        "by chance": "at most 2e-05 expected to be called watermarked without one",
        "scheme": "gumbel, version 2",
        "key": key_fingerprint(KEY),
        "tokenizer": "tiny-en",
        "threshold": "1e-05 of texts without a watermark may be called watermarked",
    }
    assert b"errors       2; the first: line 2: " in found.out
    rows = [json.loads(line) for line in Path("rows.detected.jsonl").read_text().splitlines()]
    assert [row["verdict"] for row in rows] == [
        "no watermark found",
        None,
        None,
        "no watermark found",
    ]
    assert {row["looked_for"] for row in rows if row["verdict"]} == {"gumbel, version 2"}
    assert rows[3]["id"] == 4
    assert not Path("rows.detected.jsonl.parts").exists()


def test_detect_fails_if_no_text_could_be_scored(ticore: Ticore) -> None:
    Path("wrong.jsonl").write_text('{"text": 7}\n{"text": "a"}\n')
    found = ticore("detect", *SETTINGS, "wrong.jsonl", "--json")
    assert found.status == 1
    assert "no text could be scored; the first: line 1: " in found.err
    assert json.loads(found.out)["first_error"].startswith("line 1: ")
    assert Path("wrong.detected.jsonl").exists()


def test_detect_says_that_an_output_is_replaced(ticore: Ticore) -> None:
    assert ticore("detect", *SETTINGS, "rows.jsonl").err == ""
    again = ticore("detect", *SETTINGS, "rows.jsonl", "--limit", "1")
    assert again.err == (
        "ticore: rows.detected.jsonl is there already: it is replaced when this is done\n"
    )


def test_files_are_all_looked_at_before_the_first_is_scanned(ticore: Ticore) -> None:
    Path("in").mkdir()
    Path("rows.jsonl").rename("in/a.jsonl")
    Path("in/b.jsonl").write_text('{"body": "It was a cold morning."}\n')
    found = ticore("detect", *SETTINGS, "in")
    found.assert_error(1, "b.jsonl: expected a column 'text', found 'body'")
    assert not list(Path("in").glob("*.detected.*"))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("second", ["link", "folder", "file"])
def test_outputs_are_all_tried_before_the_first_file_is_scanned(
    ticore: Ticore, second: str
) -> None:
    Path("out").mkdir()
    if second == "link":
        Path("out/nothing.jsonl").symlink_to("missing/b.jsonl")
    elif second == "folder":
        Path("out/nothing.jsonl.parts").mkdir()
        Path("out/nothing.jsonl.parts/mine").touch()
    else:
        Path("out/nothing.jsonl.parts").touch()
    found = ticore("detect", *SETTINGS, "rows.jsonl", "nothing.jsonl", "-o", "out")
    found.assert_error(1, "out/nothing.jsonl")
    assert not Path("out/rows.jsonl").exists()


def test_a_command_that_was_interrupted_does_not_scan_finished_files_again(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("in").mkdir()
    for name in "abc":
        Path(f"in/{name}.jsonl").write_bytes(Path("rows.jsonl").read_bytes())
    command = ("detect", *SETTINGS, "--workers", "1", "--json", "in", "-o", "out")
    expected = [json.loads(line) for line in ticore(*command).out.splitlines()]
    assert [path.name for path in sorted(Path("out").iterdir())] == [
        "a.jsonl",
        "b.jsonl",
        "c.jsonl",
    ]
    with monkeypatch.context() as patch:
        interrupted(patch, "c.jsonl")
        assert ticore(*command).status == 130
    Path("out/b.jsonl").write_text("changed")
    before = Path("out/a.jsonl").stat()
    found = ticore(*command)
    assert found.err == (
        "ticore: out/a.jsonl was finished before\n"
        "ticore: out/b.jsonl is there already: it is replaced when this is done\n"
        "ticore: out/c.jsonl is there already: it is replaced when this is done\n"
    )
    assert os.path.samestat(Path("out/a.jsonl").stat(), before)
    again = [json.loads(line) for line in found.out.splitlines()]
    assert [one | {"seconds": 0} for one in again] == [one | {"seconds": 0} for one in expected]
    assert [path.name for path in sorted(Path("out").iterdir())] == [
        "a.jsonl",
        "b.jsonl",
        "c.jsonl",
    ]
    assert len(Path("out/b.jsonl").read_text().splitlines()) == 4


def test_the_output_of_a_scan_is_refused_as_such(ticore: Ticore) -> None:
    assert ticore("detect", *SETTINGS, "rows.jsonl", "-o", "other.jsonl").status == 0
    again = ticore("detect", *SETTINGS, "other.jsonl")
    again.assert_error(1, "leave the file out if a scan has written it")


def test_detect_scans_for_the_writers_tokens(ticore: Ticore) -> None:
    p_values = {}
    choices: tuple[Literal["read", "search"], ...] = ("read", "search")
    for asked in choices:
        settings = (*SETTINGS, "--workers", "1", "--tokenizations", asked)
        assert ticore("detect", *settings, "rows.jsonl").status == 0
        row = json.loads(Path("rows.detected.jsonl").read_text().splitlines()[0])
        detector = WatermarkDetector(
            load_tokenizer("tiny-en"), "gumbel", key=KEY, tokenizations=asked
        )
        p_values[asked] = row["p_value"]
        assert row["p_value"] == detector.detect(PLAIN).p_value
    assert p_values["read"] < p_values["search"] <= 2 * p_values["read"]


def test_detect_prints_a_summary_for_each_file_when_json_is_given(ticore: Ticore) -> None:
    found = ticore("detect", *SETTINGS, "--json", "rows.jsonl", "nothing.jsonl", "--limit", "3")
    first, second = map(json.loads, found.out.splitlines())
    assert (first["file"], first["rows"], first["errors"]) == ("rows.jsonl", 3, 2)
    assert (second["output"], second["rows"]) == ("nothing.detected.jsonl", 0)
    assert Path("nothing.detected.jsonl").read_bytes() == b""


def test_detect_writes_into_a_folder_when_output_ends_in_a_slash(ticore: Ticore) -> None:
    assert ticore("detect", *SETTINGS, "nothing.jsonl", "-o", "results-1.0/").status == 0
    assert Path("results-1.0/nothing.jsonl").read_bytes() == b""


def test_detect_notes_the_risk_when_one_unigram_key_is_used_for_many_texts(ticore: Ticore) -> None:
    settings = [*SETTINGS[:3], "unigram", *SETTINGS[4:], "--workers", "1"]
    found = ticore("detect", *settings, "rows.jsonl")
    assert found.status == 0
    assert found.err.startswith("ticore: the false-positive rate holds over all keys")


def test_detect_writes_another_format_when_output_says_so(ticore: Ticore) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = ticore("detect", *SETTINGS, "rows.jsonl", "-o", "out.parquet", "--workers", "1")
    assert (found.status, found.err) == (0, "")
    assert parquet.read_table("out.parquet")["id"].to_pylist() == [None, None, None, 4]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["rows.jsonl", "--html", "page"], 2, "--html or --column"),
        (["rows.txt"], 2, "ends in .jsonl, .jsonl.gz or .parquet"),
        ([], 2, "ends in .jsonl, .jsonl.gz or .parquet"),
        (["rows.jsonl", "-o", "out.csv"], 2, "ends in .jsonl, .jsonl.gz or .parquet"),
        (["rows.jsonl", "-o", "rows.jsonl"], 2, "output: expected another file"),
        (["rows.jsonl", "more.jsonl", "-o", "a.jsonl"], 2, "give one FILE with --output"),
        (["rows.jsonl", "--executor", "nix"], 2, "unknown executor 'nix': choose one of"),
        (["rows.jsonl", "--engine", "nix"], 2, "unknown executor 'nix': choose one of"),
        (["rows.jsonl", "--workers", "0"], 2, "workers: expected an integer of at least 1"),
        (["rows.jsonl", "--batch-size", "0"], 2, "--batch-size: expected an integer from 1 to "),
        (["rows.jsonl", "--limit", "-1"], 2, "--limit: expected an integer from 1 to "),
        (["rows.jsonl", "--limit", "9" * 23], 2, "--limit: expected an integer from 1 to "),
        (["rows.jsonl", "--gamma", "0.5"], 2, "found --gamma"),
        (["rows.jsonl", "--tokenizations", "places"], 2, "one of read, search with --column"),
        (["rows.jsonl", "--column", "nix"], 1, "expected a column 'nix', found 'text'"),
        (["missing.jsonl"], 1, "cannot read missing.jsonl"),
        (["rows.jsonl", "-o", "missing/a.jsonl"], 1, "missing/a.jsonl"),
        (["rows.jsonl", "--tokenizer", "nix"], 1, "no model is called"),
    ],
)
def test_detect_refuses_wrong_usage_with_a_column(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    ticore("detect", *SETTINGS, *arguments).assert_error(status, part)
    assert not list(Path().glob("*detected.jsonl"))
