"""Whole files, read only where they are files and of a size that can be meant.

A place may name anything: a device without end would fill the memory, and a pipe that nobody writes
to would be waited for.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Bytes. The largest tokenizer.json of today has 34 MB, the largest config.json some 100 kB; an
# index has a line of 100 bytes for each tensor.
MOST_OF_TOKENIZER = 256 << 20
MOST_OF_CONFIG = 16 << 20
MOST_OF_INDEX = 64 << 20


def read_whole(path: str | Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError: it cannot be read, or is no such file; `strerror` says which.
    """
    # Without waiting for a writer, if it is a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError:  # a NUL, or a surrogate that stands for no byte
        raise OSError(errno.EINVAL, "no file can have this name") from None
    with os.fdopen(_regular(descriptor), "rb") as file:
        # A bound on what is read as well: a file may grow meanwhile, and those of /proc say 0.
        if os.fstat(descriptor).st_size <= most and len(data := file.read(most + 1)) <= most:
            return data
    size = f"{most >> 20} MB" if most >> 20 else f"{most} bytes"
    raise OSError(errno.EFBIG, f"larger than {size}")


def require_regular(path: Path) -> None:
    """Raise OSError where `path` is there and is no regular file; `strerror` says so.

    For files that a library opens itself.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name") from None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _regular(descriptor: int) -> int:
    """The descriptor, unless it is closed because no regular file is behind it."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file")
