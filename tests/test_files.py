"""Files appear whole and, where private, are never readable by others."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from ticore.errors import FileError
from ticore.files import write_atomically

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_atomically(path, b"old, and longer")
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@on_posix
@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o666)])
def test_mode_is_right_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private: bool, mode: int
) -> None:
    """Seen right after creation, before a byte is written, and at the end."""
    path = tmp_path / "key"
    path.touch(0o644)
    seen = []
    create = os.open

    def watch(name: Path, flags: int, wanted: int) -> int:
        descriptor = create(name, flags, wanted)
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", watch)
    before = os.umask(0)  # the most open umask: only the mode itself protects the file
    try:
        write_atomically(path, b"secret", private=private)
    finally:
        os.umask(before)
    assert [*seen, stat.S_IMODE(path.stat().st_mode)] == [mode, mode]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((FileError, KeyboardInterrupt)) as caught:
        write_atomically(path, b"new", private=True)
    if isinstance(failure, OSError):
        assert str(path) in str(caught.value)
        assert "No space left on device" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [".", "missing/key", "file/key"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / name
    with pytest.raises(FileError, match=r"cannot write|to be a new or regular file") as caught:
        write_atomically(path, b"x")
    assert str(path) in str(caught.value)
    assert [found.name for found in tmp_path.rglob("*")] == ["file"]
