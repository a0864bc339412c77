"""Files appear whole, keep what protected them, and secrets are never readable by others."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ticore._support.atomic_files import (
    new_folder,
    remove_leftovers,
    require_directory_of,
    require_new_folder,
    require_writable,
    write_atomically,
    write_new_secret,
    written_atomically,
)
from ticore.errors import FileError, OutputFileError

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=["without a name", "in place"])
def ways_to_write(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which a secret is written; the first only where the system has it."""
    if request.param == "in place":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


def test_write_atomically_writes_a_new_file_and_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_atomically(path, b"old, and longer")
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_require_writable_tries_the_place_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"old")
    require_writable(path)
    assert path.read_bytes() == b"old"

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OutputFileError, match=r"cannot write .*key: Permission denied; is it"):
        require_writable(path)
    assert list(tmp_path.iterdir()) == [path]


def test_require_directory_of_names_a_place_that_is_not_there(tmp_path: Path) -> None:
    require_directory_of(tmp_path / "new")
    require_directory_of(tmp_path)
    (tmp_path / "file").touch()
    for folder in ("missing", "file"):
        with pytest.raises(OutputFileError, match=f"there is no directory .*{folder}; make it"):
            require_directory_of(tmp_path / folder / "new")
    with pytest.raises(OutputFileError, match="no file can have this name"):
        require_directory_of(tmp_path / "a\0b")


@on_posix
def test_require_directory_of_names_a_place_that_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / ("long" * 100), tmp_path / ("long" * 100) / "new"):
        with pytest.raises(OutputFileError, match=r"cannot write .*longlong.*; is it a place"):
            require_directory_of(path)

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(OutputFileError, match=r"cannot write .*new: Permission denied; is it"):
        require_directory_of(tmp_path / "closed" / "new")


@on_posix
@pytest.mark.usefixtures("ways_to_write")
def test_write_new_secret_lets_only_the_owner_read_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen right after creation, before a byte is written, and at the end."""
    path = tmp_path / "key"
    seen = []
    create = os.open

    def watch(name: Path, flags: int, wanted: int) -> int:
        descriptor = create(name, flags, wanted)
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", watch)
    before = os.umask(0)  # the most open umask: only the mode itself protects the file
    try:
        write_new_secret(path, b"secret")
    finally:
        os.umask(before)
    assert [*seen, mode(path)] == [0o600, 0o600]
    assert path.read_bytes() == b"secret"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("ways_to_write")
@pytest.mark.parametrize("kind", ["file", "folder", "link to nothing"])
def test_write_new_secret_never_replaces_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Whatever comes to be there at the last moment stays."""
    path = tmp_path / "key"
    create = os.open

    def late(name: Path, flags: int, wanted: int) -> int:
        if kind == "file":
            path.write_bytes(b"the only copy")
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("nothing")
        return create(name, flags, wanted)

    monkeypatch.setattr(os, "open", late)
    found = "found a folder; name a file in it" if kind == "folder" else "found that it exists"
    with pytest.raises(FileError, match=f"to be a new file, {found}"):
        write_new_secret(path, b"secret")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == [path]
    if kind == "file":
        assert path.read_bytes() == b"the only copy"


@pytest.mark.usefixtures("ways_to_write")
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_write_new_secret_leaves_nothing_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((FileError, KeyboardInterrupt)):
        write_new_secret(tmp_path / "key", b"secret")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from ticore._support.atomic_files import write_new_secret
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_new_secret(sys.argv[1], b"secret")
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_write_new_secret_leaves_nothing_when_the_process_is_killed(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "key"], check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


@on_posix
@pytest.mark.parametrize("before", [None, 0o600, 0o640, 0o666])
def test_write_atomically_keeps_the_mode_of_a_replaced_file(
    tmp_path: Path, before: int | None
) -> None:
    path = tmp_path / "page.html"
    if before is not None:
        path.touch()
        path.chmod(before)
    umask = os.umask(0o027)
    try:
        with written_atomically(path) as file:
            file.write(b"new")
            assert before is None or stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    finally:
        os.umask(umask)
    assert mode(path) == (0o640 if before is None else before)


@as_root
def test_write_atomically_keeps_the_owner_of_a_replaced_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    path.touch()
    path.chmod(0o664)
    os.chown(path, 1234, 5678)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (1234, 5678, 0o664)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    write_atomically(path, b"newer")  # its group is another, which had no right to it
    assert (path.stat().st_uid, mode(path)) == (0, 0o604)


@on_posix
def test_write_atomically_replaces_the_target_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "file"
    link.symlink_to(Path("there") / "file")
    for content in (b"one", b"two"):  # where there is nothing yet, and where there is
        write_atomically(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["file"]
    link.unlink()
    link.symlink_to("link")
    with pytest.raises(FileError, match=r"cannot write .*link"):
        write_atomically(link, b"three")
    assert link.is_symlink()


@as_root
@pytest.mark.parametrize(("maker", "mode", "follows"), [(1234, 0o1777, False), (0, 0o1777, True)])
def test_write_atomically_refuses_a_link_of_another_user_in_a_shared_folder(
    tmp_path: Path, maker: int, mode: int, follows: bool
) -> None:
    """Where anybody can make files, a link leads to a file that its maker cannot write."""
    folder, mine = tmp_path / "tmp", tmp_path / "mine"
    folder.mkdir()
    folder.chmod(mode)
    os.chown(folder, 77, 77)
    mine.write_bytes(b"old")
    (folder / "page.html").symlink_to(mine)
    os.chown(folder / "page.html", maker, maker, follow_symlinks=False)
    if follows:
        write_atomically(folder / "page.html", b"new")
    else:
        with pytest.raises(FileError, match="a link that another user made"):
            write_atomically(folder / "page.html", b"new")
    assert mine.read_bytes() == (b"new" if follows else b"old")


def test_written_atomically_uses_another_folder_meanwhile(tmp_path: Path) -> None:
    within, path = tmp_path / "parts", tmp_path / "out"
    within.mkdir()
    with written_atomically(path, within=within) as file:
        file.write(b"new")
        assert len(list(within.iterdir())) == 1
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(within.iterdir()) == []


@on_posix
def test_written_atomically_stays_on_the_file_system_of_the_target(tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs two file systems")
    path = tmp_path / "out"
    with written_atomically(path, within=other) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"


def test_remove_leftovers_removes_files_that_are_a_day_old(tmp_path: Path) -> None:
    names = [".ticore-0123456789abcdef.tmp", ".ticore-fedcba9876543210.tmp", "mine.tmp"]
    for name in names:
        (tmp_path / name).touch()
    long_ago = time.time() - 25 * 3600
    for name in names[1:]:
        os.utime(tmp_path / name, (long_ago, long_ago))
    (tmp_path / ".ticore-00000000000000aa.tmp").mkdir()
    remove_leftovers(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {names[0], names[2], ".ticore-00000000000000aa.tmp"}
    remove_leftovers(tmp_path / "missing")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_write_atomically_leaves_the_old_file_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((FileError, KeyboardInterrupt)) as caught:
        write_atomically(path, b"new")
    if isinstance(failure, OSError):
        assert str(path) in str(caught.value)
        assert "No space left on device; make room there" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [write_atomically, write_new_secret])
@pytest.mark.parametrize("name", [".", "missing/key", "file/key", "a\0b", "a\ud800"])
def test_write_atomically_names_a_place_that_cannot_be_written(
    tmp_path: Path, name: str, write: type[write_atomically]
) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / name
    with pytest.raises(FileError, match=r"cannot write|to be a new") as caught:
        write(path, b"x")
    assert (str(path) if path.name.isprintable() else "no file can have") in str(caught.value)
    assert [found.name for found in tmp_path.rglob("*")] == ["file"]


def test_new_folder_is_there_when_it_is_full(tmp_path: Path) -> None:
    with new_folder(tmp_path / "new") as folder:
        (folder / "a").write_text("x")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "a").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_new_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    with suppress(ZeroDivisionError), new_folder(tmp_path / "new") as folder:
        (folder / "a").write_text("x")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_require_new_folder_tries_the_place_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_new_folder(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []

    def refuse(*args: object, **given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(OutputFileError, match=r"Permission denied; is it a place in an existing"):
        require_new_folder(tmp_path / "new")
    with pytest.raises(OutputFileError, match="there is no directory"):
        require_new_folder(tmp_path / "missing" / "new")


def test_new_folder_takes_the_place_of_no_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "new").symlink_to("nothing")
    with pytest.raises(OutputFileError, match="it exists"), new_folder(tmp_path / "new"):
        pass
    assert os.readlink(tmp_path / "new") == "nothing"


def test_new_folder_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with (
        pytest.raises(OutputFileError, match=r"cannot write .*new: it exists"),
        new_folder(tmp_path / "new"),
    ):
        pass
    with pytest.raises(OutputFileError, match="cannot write"), new_folder(tmp_path / "no" / "new"):
        pass
    assert list((tmp_path / "new").iterdir()) == []
