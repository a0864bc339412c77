"""Texts of files and tables, and what is said of rows that have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticore._cli.texts_of_files import texts_of
from ticore._cli.usage import UsageError
from ticore.errors import InputFileError


def test_a_line_is_a_text_and_blank_lines_are_none(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes("one\r\n\n \ntwo\u2028still two\x0c\nthree".encode())
    assert list(texts_of([path], None)) == ["one", "two\u2028still two\x0c", "three"]


def test_rows_without_a_text_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    said = ["one", None, 3, "\ud800", "two"]
    path.write_text("".join(json.dumps({"said": each}) + "\n" for each in said))
    assert list(texts_of([path], "said")) == ["one", "two"]
    note = capsys.readouterr().err
    assert "rows.jsonl: left out 3 of 5 rows; row 2: " in note


def test_nothing_is_said_of_a_table_whose_rows_all_have_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"said": "one"}\n')
    assert list(texts_of([path], "said")) == ["one"]
    assert capsys.readouterr().err == ""


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf\r\na line\r\n")
    assert list(texts_of([path], None)) == ["a line"]


def test_a_table_may_have_columns_that_a_scan_would_add(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "one", "error": "", "p_value": 1}\n')
    assert list(texts_of([path], "text")) == ["one"]


def test_files_without_a_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n")
    (tmp_path / "a.jsonl").write_text('{"text": null}\n')
    with pytest.raises(InputFileError, match=r"a\.txt: expected texts, found none"):
        list(texts_of([tmp_path / "a.txt"], None))
    with pytest.raises(InputFileError, match=r"a\.jsonl: expected texts, found none"):
        list(texts_of([tmp_path / "a.jsonl"], "text"))
    assert list(texts_of([], None)) == []


def test_a_column_of_what_is_no_table_is_refused(tmp_path: Path) -> None:
    endings = r"\.jsonl, \.jsonl\.gz or \.parquet"
    expected = f"--column: expected a file that ends in {endings}, found "
    with pytest.raises(UsageError, match=expected + "a folder; name its files"):
        list(texts_of([tmp_path], "text"))
    with pytest.raises(UsageError, match=expected + "another name"):
        list(texts_of([tmp_path / "a.txt"], "text"))
