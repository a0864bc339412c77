"""Writing files so that a reader finds the old content or the new, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from .errors import FileError


def write_atomically(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Put `data` at `path`, whole or not at all; what was there is replaced.

    Args:
        path, private: see `written_atomically`.
        data: its whole content.

    Raises FileError: it cannot be written. What was at `path` is then unchanged.
    """
    with written_atomically(path, private=private) as file:
        file.write(data)


@contextmanager
def written_atomically(
    path: str | os.PathLike[str], *, private: bool = False
) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` if the block ends well, for what comes in pieces.

    Args:
        path: the file to write, in a directory that exists.
        private: only the owner may read it, from the moment it exists. Otherwise the umask
            decides, as for any new file.

    Raises:
        FileError: it cannot be written, or is a directory or a device. What was at `path` is then
            unchanged.
    """
    target = Path(path)
    # It would take the place of a device, such as /dev/null, if its owner runs this. These two
    # functions leave a path that cannot be looked up to the error for writing to it.
    if os.path.exists(target) and not os.path.isfile(target):
        raise FileError(
            f"expected {target} to be a new or regular file, found something else; "
            f"choose another name"
        )
    # In the same directory, since a rename across file systems is not atomic.
    temporary = target.parent / f".ticore-{token_hex(8)}.tmp"
    try:
        try:
            with _created(temporary, mode=0o600 if private else 0o666) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except FileError:  # of the block
        raise
    except OSError as error:
        raise FileError(
            f"cannot write {target}: {error.strerror or error}; "
            f"is it a place in an existing directory that you may write to?"
        ) from error


def _created(path: Path, mode: int) -> BinaryIO:
    """A new file with `mode`, never one that is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The mode is given at creation: a later chmod would leave a moment in which others can read.
    return os.fdopen(os.open(path, flags, mode), "wb")
