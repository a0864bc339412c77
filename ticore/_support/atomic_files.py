"""Writes files so that a reader finds the old content or the new content, never a part of it."""

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
from tempfile import TemporaryDirectory
from typing import BinaryIO

from ..errors import FileError, OutputFileError

TEMPORARY = re.compile(r"\.ticore-[0-9a-f]{16}\.tmp")
"""Names of files that are being written. A process that is killed leaves such a file."""

_ABANDONED = 24 * 3600  # seconds without a change after which nobody is writing a temporary file
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file, or nothing. A file that exists is replaced.

    Args:
        path: see `written_atomically`.
        data: the whole content.

    Raises:
        OutputFileError: it cannot be written. A file that exists is then unchanged.
    """
    with written_atomically(path) as file:
        file.write(data)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `path` if the block ends without an error.

    Args:
        path: of a folder that does not exist.

    Raises:
        OutputFileError: it cannot be made or filled, or something is there.
    """
    try:
        with TemporaryDirectory(prefix=".ticore-", dir=path.parent) as temporary:
            folder = Path(temporary) / "new"
            folder.mkdir()
            yield folder
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, "it exists")
            folder.rename(path)
    except OSError as error:
        raise OutputFileError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def written_atomically(
    path: str | os.PathLike[str], *, within: Path | None = None
) -> Iterator[BinaryIO]:
    """A file to write in pieces, which replaces `path` if the block ends without an error.

    A file that is replaced keeps its mode, and its owner and group where the system allows it. If
    not, nobody gets more rights than before. A new file gets the mode of the umask. If `path` is a
    link, the file that it points to is replaced. A link that another user made in a folder where
    anybody can make files is refused.

    Args:
        path: the file to write, in a directory that exists.
        within: a directory for the temporary file, whose owner removes leftovers of killed
            processes. It is used if it is on the file system of `path`.

    Raises:
        OutputFileError: it cannot be written, or is a directory or a device. A file that exists is
            then unchanged.
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
            # Nobody else may read it until it has the mode of the file that it replaces.
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
    """Write a secret into a new file, which only its owner can read from the first moment.

    A file that exists is never replaced, even one made a moment before. Where the system has files
    without a name, the data is complete before the file gets its name, so a process that is killed
    leaves nothing.

    Args:
        path: of the new file.
        data: the whole content.

    Raises:
        OutputFileError: the file exists, or cannot be written.
    """
    target = Path(path)
    with _failures_named(path):
        try:
            if not _linked(target, data):
                _written_in_place(target, data)
        except FileExistsError:
            if target.is_dir():
                raise OutputFileError(
                    f"expected {target} to be a new file, found a folder; name a file in it"
                ) from None
            raise OutputFileError(
                f"expected {target} to be a new file, found that it exists; "
                f"it may hold the only copy of a key: remove it first, or choose another name"
            ) from None


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes, a day after their last change.

    A file that cannot be removed is left, without an error.
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


def require_directory_of(path: Path) -> None:
    """Refuse a new file or folder whose directory is missing, before the work that it is for.

    Raises:
        OutputFileError: there is no such directory, it may not be entered, or nothing can have this
            name.
    """
    with _failures_named(path), suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(path)
    if not os.path.isdir(path.parent):
        raise OutputFileError(
            f"cannot write {path}: there is no directory {path.parent}; make it first"
        )


def require_new_folder(path: Path) -> None:
    """Refuse a folder that `new_folder` cannot make, before the work that it is for.

    A folder is made beside it and removed.

    Raises:
        OutputFileError: see `new_folder`.
    """
    require_directory_of(path)
    with _failures_named(path), TemporaryDirectory(prefix=".ticore-", dir=path.parent):
        pass


def require_writable(path: Path) -> None:
    """Refuse a file that `written_atomically` cannot write, before the work that it is for.

    An empty file is made in its directory and removed.

    Raises:
        OutputFileError: see `written_atomically`.
    """
    require_directory_of(path)
    with _failures_named(path):
        _require_own_link(path)
        target = Path(os.path.realpath(path))
        _regular(target, path)
        temporary = target.parent / f".ticore-{token_hex(8)}.tmp"
        _created(temporary, 0o600).close()
        temporary.unlink()


@contextmanager
def _failures_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """An error inside the block becomes an OutputFileError about `path`."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        advice = "is it a place in an existing directory that you may write to?"
        if error.errno in _FULL:
            advice = "make room there, or choose another place"
        raise OutputFileError(
            f"cannot write {path}: {error.strerror or error}; {advice}"
        ) from error
    except ValueError as error:
        if _is_possible(path):  # The error is not about the name.
            raise
        raise OutputFileError(
            f"cannot write {os.fspath(path)!r}: no file can have this name; choose another"
        ) from error


def _is_possible(path: str | os.PathLike[str]) -> bool:
    """Whether a file can have this name: it has no NUL and can be encoded for the system."""
    try:
        return b"\0" not in os.fsencode(path)
    except ValueError:
        return False


def _require_own_link(path: str | os.PathLike[str]) -> None:
    """Refuse a link that another user made in a folder such as /tmp.

    It may be a trap. Linux refuses to open such a link (protected_symlinks), but not to rename over
    its target.

    Raises:
        OutputFileError: `path` is such a link.
    """
    if os.name != "posix" or not os.path.islink(path):
        return
    maker, folder = os.lstat(path).st_uid, os.stat(os.path.dirname(path) or ".")
    anybodys = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if anybodys and maker not in (os.geteuid(), folder.st_uid):
        raise OutputFileError(
            f"expected {path} to be a file, found a link that another user made in a folder where "
            f"anybody can; choose another place"
        )


def _regular(target: Path, path: str | os.PathLike[str]) -> os.stat_result | None:
    """The file at `target`; None if there is no file.

    Raises:
        OutputFileError: it is not a regular file.
    """
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    # Run by root, a rename would replace a device such as /dev/null.
    if not stat.S_ISREG(found.st_mode):
        raise OutputFileError(
            f"expected {path} to be a new or regular file, found something else; "
            f"choose another name"
        )
    return found


def _resemble(descriptor: int, before: os.stat_result) -> None:
    """Give an open file the owner, the group and the permissions of another one."""
    if os.name != "posix":
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
                mode &= 0o707  # The new file has another group.
    os.fchmod(descriptor, mode)


def _linked(target: Path, data: bytes) -> bool:
    """Write a file without a name, then give it a name.

    Returns:
        False where the system cannot do that.

    Raises:
        FileExistsError: the name is taken.
        OSError: the file cannot be written.
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
            # Python makes the call that follows the link in /proc only if a directory is given.
            os.link(
                f"/proc/self/fd/{descriptor}", target, src_dir_fd=descriptor, follow_symlinks=True
            )
        except FileExistsError:
            raise
        except OSError:  # such as a system without /proc
            return False
    return True


def _written_in_place(target: Path, data: bytes) -> None:
    """Write a new file under its name, and remove it if that fails.

    Raises:
        OSError: it cannot be written.
    """
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
    """Create a file with a mode. A file that exists is an error."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The mode is set at creation: before a later chmod, others could read the file.
    return os.fdopen(os.open(path, flags, mode), "wb")
