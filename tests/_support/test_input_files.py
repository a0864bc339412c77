"""What is read has a limit, and nothing is waited for that may never come."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from ticore._support import input_files
from ticore._support.input_files import open_file, parse_json, read_file
from ticore.errors import FileError

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are POSIX")


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_read_file_reads_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(input_files, "_CHUNK", 4)
    (tmp_path / "a").write_bytes(bytes(size))
    assert read_file(tmp_path / "a", 10) == bytes(size)


@pytest.mark.parametrize("size", [11, 12, 1000])
def test_read_file_refuses_more_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(input_files, "_CHUNK", 4)
    (tmp_path / "a").write_bytes(bytes(size))
    with pytest.raises(FileError, match="a: expected at most 10 bytes, found more"):
        read_file(tmp_path / "a", 10)


@on_posix
def test_read_file_refuses_a_device_without_an_end() -> None:
    with pytest.raises(FileError, match="/dev/zero: expected at most 4,096 bytes"):
        read_file("/dev/zero", 4096)


@on_posix
@pytest.mark.parametrize("patience", [0.05, 5])
def test_read_file_waits_for_the_writer_of_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """Its writer comes late, and takes longer than one who does not come is waited for."""
    monkeypatch.setattr(input_files, "_PATIENCE", patience)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    opened = os.open(path, os.O_RDWR) if patience < 1 else None

    def write() -> None:
        with path.open("wb") as file:
            time.sleep(0.2)
            file.write(b"secret")
            file.flush()
            if opened is not None:
                os.close(opened)

    writer = threading.Thread(target=write)
    writer.start()
    assert read_file(path, 10) == b"secret"
    writer.join()


@on_posix
def test_read_file_refuses_a_pipe_without_a_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_files, "_PATIENCE", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="expected somebody to write to this pipe, found nobody"):
        read_file(tmp_path / "pipe", 10)


@on_posix
def test_read_file_reads_a_file_by_its_descriptor(tmp_path: Path) -> None:
    """As /dev/stdin is one."""
    (tmp_path / "a").write_bytes(b"secret")
    with (tmp_path / "a").open("rb") as file:
        assert read_file(f"/dev/fd/{file.fileno()}", 10) == b"secret"


@on_posix
def test_read_file_reads_nothing_from_a_closed_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    try:
        assert read_file(f"/dev/fd/{reading}", 10) == b""
    finally:
        os.close(reading)


@pytest.mark.parametrize("name", ["", "missing", "a\0b", "\ud800", "file/a"])
def test_read_file_and_open_file_name_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot read"):
        read_file(tmp_path / name, 10)
    with pytest.raises(FileError, match="cannot read"):
        open_file(tmp_path / name)


@pytest.mark.parametrize("depth", [499, 500, 501, 950, 2000])
@pytest.mark.parametrize("opening", ["[", '{"a": '])
def test_parse_json_has_the_same_depth_limit_at_any_call_depth(depth: int, opening: str) -> None:
    """In particular not on how many functions are under way."""
    deep = opening * depth + "1" + ("]" if opening == "[" else "}") * depth

    def tried(calls: int) -> str:
        if calls:
            return tried(calls - 1)
        try:
            return str(parse_json(deep))
        except ValueError as error:
            return str(error)

    assert tried(0) == tried(300)
    assert (tried(0) == "nested more than 500 levels deep") == (depth > 500)


def test_parse_json_reads_many_brackets_that_are_not_deep() -> None:
    assert len(parse_json("[" + "[], " * 2000 + "[]]")) == 2001
