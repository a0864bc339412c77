"""Reading files that a user names, never without a limit."""

from __future__ import annotations

import errno
import json
import os
import select
import stat
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InputFileError

_CHUNK = 1 << 20
_DEEPEST = 500
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"
_PATIENCE = 10.0  # seconds to wait until somebody opens a named pipe for writing
_IMPOSSIBLE_NAME = "no file can have this name"
BYTE_ORDER_MARK = "\ufeff"  # what some editors put before a text in UTF-8
_NOT_REGULAR = "not a regular file"


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """The whole content of a file, a pipe or a device.

    A shell's `<(command)` is a pipe. A pipe that nobody opens for writing is waited for 10 seconds.
    One that is open is read until its writer closes it.

    Args:
        path: of the file.
        most: how many bytes it may hold. At most one byte more is read.

    Raises:
        InputFileError: it cannot be read, holds more, or is a pipe without a writer.
    """
    try:
        return _read(path, most, only_regular=False)
    except InputFileError:
        raise
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise _too_long(str(path), most) from None
        raise unreadable(path, error) from error


def read_regular_file(path: str | os.PathLike[str], most: int) -> bytes:
    """The whole content of a regular file.

    Unlike `read_file` it refuses pipes and devices, and leaves the error's text to the caller.

    Args:
        path: of the file.
        most: how many bytes it may hold.

    Raises:
        OSError: it cannot be read, holds more, or is not a regular file; `strerror` says which.
    """
    try:
        return _read(path, most, only_regular=True)
    except ValueError:
        raise OSError(errno.EINVAL, _IMPOSSIBLE_NAME) from None


def require_regular_file(path: Path) -> None:
    """Refuse what is not a regular file. For files that a library opens itself.

    Raises:
        OSError: there is no file, or it is not a regular one; `strerror` says which.
    """
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise OSError(errno.EINVAL, _IMPOSSIBLE_NAME) from None
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR)


def _read(path: str | os.PathLike[str], most: int, *, only_regular: bool) -> bytes:
    """The content of a file, of a pipe too unless `only_regular`.

    Raises:
        InputFileError: a pipe has no writer.
        OSError: the file cannot be read, or holds more (EFBIG).
        ValueError: no file can have this name.
    """
    descriptor = os.open(path, _READ_AT_ONCE)
    try:
        found = os.fstat(descriptor)
        regular = stat.S_ISREG(found.st_mode)
        if only_regular and not regular:
            raise OSError(errno.EINVAL, _NOT_REGULAR)
        if stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        size = f"larger than {most >> 20} MB" if most >> 20 else f"larger than {most} bytes"
        if regular and found.st_size > most:
            raise OSError(errno.EFBIG, size)
        first = _first_byte(descriptor, path) if stat.S_ISFIFO(found.st_mode) else b""
        if os.name == "posix":  # Elsewhere every open file blocks.
            os.set_blocking(descriptor, True)
        # The size does not tell everything: a file may grow, and those of /proc have size 0.
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            expected = found.st_size + 1 if regular else 0
            data = first + _up_to(file, most + 1 - len(first), expected)
        if len(data) > most:
            raise OSError(errno.EFBIG, size)
        return data
    finally:
        os.close(descriptor)


def read_at_most(file: BinaryIO, most: int, source: str) -> bytes:
    """The rest of an open file.

    Args:
        file: binary and buffered: it gives fewer bytes than asked for only at its end.
        most: how many bytes may be left. At most one byte more is read.
        source: the file's name, for the error's text.

    Raises:
        InputFileError: there is more.
        OSError: it cannot be read.
    """
    data = _up_to(file, most + 1)
    if len(data) > most:
        raise _too_long(source, most)
    return data


def _up_to(file: BinaryIO, count: int, expected: int = 0) -> bytes:
    """The next `count` bytes of a file, fewer only at its end.

    A file of fewer than `expected` bytes is read at once, without a second copy of it in memory.
    """
    wanted = min(max(_CHUNK, expected), count)
    chunk = file.read(wanted)
    if len(chunk) < wanted or wanted == count:
        return chunk
    data = bytearray(chunk)
    while (wanted := min(_CHUNK, count - len(data))) > 0:
        chunk = file.read(wanted)
        data += chunk
        if len(chunk) < wanted:
            break
    return bytes(data)


def _too_long(source: str, most: int) -> InputFileError:
    return InputFileError(
        f"{source}: expected at most {most:,} bytes, found more; is it the file that you meant?"
    )


def parse_json(text: str) -> Any:
    """The value of a text in JSON.

    How deep a value Python can read depends on the depth of the call stack. A limit of 500 levels
    makes the answer the same everywhere.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        ValueError: the value is too deep, or has a number of thousands of digits.
    """
    try:
        found = json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("{") + text.count("[") > _DEEPEST and _is_too_deep(found):
        raise ValueError(_TOO_DEEP)
    return found


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading in binary.

    Raises:
        InputFileError: it cannot be opened.
    """
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: str | os.PathLike[str], error: OSError | ValueError) -> InputFileError:
    """The error for a file that cannot be read.

    Args:
        path: of the file.
        error: what Python raised; a ValueError if no file can have this name, because it holds a
            NUL character or a lone surrogate.
    """
    if isinstance(error, OSError):
        return InputFileError(f"cannot read {path}: {error.strerror or error}")
    return InputFileError(f"cannot read {os.fspath(path)!r}: {_IMPOSSIBLE_NAME}; check it")


# A pipe is opened without waiting for a writer: there may never be one.
_READ_AT_ONCE = os.O_RDONLY | (
    getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
)


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _first_byte(pipe: int, path: str | os.PathLike[str]) -> bytes:
    """The first byte of a pipe; empty if its writer has written nothing yet, or has closed it.

    Raises:
        InputFileError: it has no writer.
    """
    ready = bool(select.select([pipe], [], [], _PATIENCE)[0])
    try:
        byte = os.read(pipe, 1)
    except BlockingIOError:  # There is a writer, which has written nothing yet.
        return b""
    if not byte and not ready:
        raise InputFileError(
            f"cannot read {path}: expected somebody to write to this pipe, found nobody for "
            f"{_PATIENCE:.0f} seconds; name a file, or start the writer first"
        )
    return byte
