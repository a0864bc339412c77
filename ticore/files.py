"""Writing files so that a reader finds the old content or the new, never a part."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex

from .errors import FileError


def write_atomically(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Put `data` at `path`, whole or not at all; what was there is replaced.

    Args:
        path: the file to write, in a directory that exists.
        data: its whole content.
        private: only the owner may read it, from the moment it exists. Otherwise the umask
            decides, as for any new file.

    Raises:
        FileError: it cannot be written. What was at `path` is then unchanged.
    """
    target = Path(path)
    # In the same directory, since a rename across file systems is not atomic.
    temporary = target.parent / f".ticore-{token_hex(8)}.tmp"
    try:
        try:
            _write_new(temporary, data, mode=0o600 if private else 0o666)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(
            f"cannot write {target}: {error.strerror or error}; "
            f"is it a place in an existing directory that you may write to?"
        ) from error


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Create `path` with `mode`, never opening what is there, and bring `data` to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The mode is given at creation: a later chmod would leave a moment in which others can read.
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
