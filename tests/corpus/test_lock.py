"""Only one has the lock; the others are told who has it, and leave nothing open."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ticore.corpus._lock import HeldError, Lock


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody read what is locked")
def test_error_names_the_process_that_has_the_lock(tmp_path: Path) -> None:
    """The file was left by a process that was killed, and its number was longer."""
    path = tmp_path / "lock"
    path.write_text("12345678901234567890")
    lock = Lock(path)
    with pytest.raises(HeldError, match=rf"^process {os.getpid()}$"):
        Lock(path)
    lock.release()


def test_refused_lock_leaves_no_file_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    lock, opened, really = Lock(path), list[int](), os.open

    def open_and_note(name: Path, flags: int, mode: int) -> int:
        opened.append(really(name, flags, mode))
        return opened[-1]

    monkeypatch.setattr(os, "open", open_and_note)
    with pytest.raises(HeldError):
        Lock(path)
    monkeypatch.undo()
    (descriptor,) = opened
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)
    lock.release()


def test_lock_makes_its_file_again_when_it_was_removed_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process before releases the lock after this one opens the file and before it locks it."""
    path = tmp_path / "lock"
    before, take = Lock(path), Lock._take

    def release_and_take(lock: Lock) -> None:
        before.release()
        take(lock)

    monkeypatch.setattr(Lock, "_take", release_and_take)
    lock = Lock(path)
    monkeypatch.undo()
    with pytest.raises(HeldError):
        Lock(path)
    lock.release()
    assert not path.exists()
