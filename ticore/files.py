"""Writing files so that a reader finds the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from .errors import FileError

TEMPORARY = re.compile(r"\.ticore-[0-9a-f]{16}\.tmp")
"""Names of files that are being written. One that was killed leaves such a file."""

_ABANDONED = 24 * 3600  # seconds without a change by which nobody is at a temporary file any more
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Put `data` at `path`, whole or not at all; what was there is replaced.

    Args:
        path: see `written_atomically`.
        data: its whole content.

    Raises FileError: it cannot be written. What was at `path` is then unchanged.
    """
    with written_atomically(path) as file:
        file.write(data)


@contextmanager
def written_atomically(
    path: str | os.PathLike[str], *, within: Path | None = None
) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` if the block ends well, for what comes in pieces.

    A file that is replaced keeps its mode, and its owner and group where the system lets it; where
    not, nobody may do more with the new one than with the old. A new file has the mode that the
    umask gives. A link stays, and what it points to is replaced; not where anybody can make files
    and somebody else made the link.

    Args:
        path: the file to write, in a directory that exists.
        within: a directory for the file while it is written, where whoever made it removes what a
            killed process leaves. It is used if it is on the file system of `path`.

    Raises:
        FileError: it cannot be written, or is a directory or a device. What was at `path` is then
            unchanged.
    """
    with _failures_named(path):
        _require_own_link(path)
        target = Path(os.path.realpath(path))
        before = _regular(target, path)
        # A rename across file systems is not atomic.
        folder = target.parent
        if within is not None and os.stat(within).st_dev == os.stat(folder).st_dev:
            folder = within
        temporary = folder / f".ticore-{token_hex(8)}.tmp"
        try:
            # Closed to others until it has the mode of what it replaces.
            with _created(temporary, mode=0o666 if before is None else 0o600) as file:
                yield file
                if before is not None:
                    _resemble(file.fileno(), before)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def write_new_secret(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a secret into a new file that its owner alone may read, from the moment it exists.

    What is at `path`, were it made a moment before, is never replaced. Where the system has files
    without a name, the data is in one until it is whole: killed, the process leaves nothing.

    Raises FileError: there is something at `path`, or it cannot be written.
    """
    target = Path(path)
    with _failures_named(path):
        try:
            if not _linked(target, data):
                _written_in_place(target, data)
        except FileExistsError:
            raise FileError(
                f"expected {target} to be a new file, found that it exists; "
                f"it may hold the only copy of a key: remove it first, or choose another name"
            ) from None


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left in a folder, a day after they last wrote it.

    Where that cannot be done, nothing happens.
    """
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                if (
                    TEMPORARY.fullmatch(entry.name)
                    and entry.is_file(follow_symlinks=False)
                    and time.time() - entry.stat().st_mtime > _ABANDONED
                ):
                    os.unlink(entry.path)


@contextmanager
def _failures_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """What goes wrong within becomes a FileError about `path`."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        advice = "is it a place in an existing directory that you may write to?"
        if error.errno in _FULL:
            advice = "make room there, or choose another place"
        raise FileError(f"cannot write {path}: {error.strerror or error}; {advice}") from error
    except ValueError as error:
        if _is_possible(path):  # It is not about the name.
            raise
        raise FileError(
            f"cannot write {os.fspath(path)!r}: no file can have this name; choose another"
        ) from error


def _is_possible(path: str | os.PathLike[str]) -> bool:
    """Whether a file can have this name: without NUL characters, and as the system's bytes."""
    try:
        return b"\0" not in os.fsencode(path)
    except ValueError:
        return False


def _require_own_link(path: str | os.PathLike[str]) -> None:
    """Raise FileError for a link that another user left in a folder such as /tmp, as a trap.

    As Linux does where a file is opened (protected_symlinks). Who renames is not asked by it.
    """
    if not hasattr(os, "geteuid") or not os.path.islink(path):
        return
    maker, folder = os.lstat(path).st_uid, os.stat(os.path.dirname(path) or ".")
    anybodys = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if anybodys and maker not in (os.geteuid(), folder.st_uid):
        raise FileError(
            f"expected {path} to be a file, found a link that another user made in a folder where "
            f"anybody can; choose another place"
        )


def _regular(target: Path, path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is at `target`, None if nothing. Raises FileError where it is no regular file."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    # It would take the place of a device, such as /dev/null, if its owner runs this.
    if not stat.S_ISREG(found.st_mode):
        raise FileError(
            f"expected {path} to be a new or regular file, found something else; "
            f"choose another name"
        )
    return found


def _resemble(descriptor: int, before: os.stat_result) -> None:
    """Give an open file the owner, the group and the permissions of another one."""
    if not hasattr(os, "fchmod"):
        return
    mode = stat.S_IMODE(before.st_mode) & 0o777
    found = os.fstat(descriptor)
    if (found.st_uid, found.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except OSError:
            try:
                os.fchown(descriptor, -1, before.st_gid)
            except OSError:
                mode &= 0o707  # Its group is another now.
    os.fchmod(descriptor, mode)


def _linked(target: Path, data: bytes) -> bool:
    """Write a file without a name, and give it one. False where the system cannot do that.

    Raises OSError, FileExistsError where the name is taken.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        descriptor = os.open(target.parent, os.O_WRONLY | os.O_TMPFILE, 0o600)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            return False
        raise
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
        try:
            # Only with a directory does Python make the call that follows the link in /proc.
            os.link(
                f"/proc/self/fd/{descriptor}", target, src_dir_fd=descriptor, follow_symlinks=True
            )
        except FileExistsError:
            raise
        except OSError:  # such as a system without /proc
            return False
    return True


def _written_in_place(target: Path, data: bytes) -> None:
    """Write a new file under its name; if that fails it is removed. Raises OSError."""
    with _created(target, 0o600) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                target.unlink()
            raise


def _created(path: Path, mode: int) -> BinaryIO:
    """A new file with `mode`, never one that is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The mode is given at creation: a later chmod would leave a moment in which others can read.
    return os.fdopen(os.open(path, flags, mode), "wb")
