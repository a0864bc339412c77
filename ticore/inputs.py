"""Reading files that a user names: never without a limit, and every failure is a FileError."""

from __future__ import annotations

import json
import os
import select
import stat
from pathlib import Path
from typing import Any, BinaryIO

from .errors import FileError

_CHUNK = 1 << 20
_DEEPEST = 500
_TOO_DEEP = f"nested more than {_DEEPEST} levels deep"
_PATIENCE = 10.0  # seconds that a named pipe is given until somebody opens it for writing


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """The whole content of a file.

    Pipes and devices are read too: a shell's `<(command)` is a pipe. A pipe that nobody opens for
    writing is waited for 10 seconds, one that is open as long as its writer takes.

    Args:
        path: the file.
        most: how many bytes it may hold. No more than one byte beyond is read of it.

    Raises:
        FileError: it cannot be read, holds more, or is a pipe without a writer.
    """
    try:
        descriptor = os.open(path, _READ_AT_ONCE)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    try:
        with os.fdopen(descriptor, "rb", closefd=True) as file:
            first = b""
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                first = _first_byte(descriptor, path)
            if os.name == "posix":  # Elsewhere nothing was opened without waiting.
                os.set_blocking(descriptor, True)
            return read_at_most(file, most, str(path), first)
    except FileError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error


def read_at_most(file: BinaryIO, most: int, source: str, first: bytes = b"") -> bytes:
    """What is left in an open file.

    Args:
        file: binary and buffered; a short answer is its end.
        most: how many bytes may be left. No more than one byte beyond is read.
        source: the file's name, for the error's text.
        first: what has been read of it before.

    Raises:
        FileError: there is more.
        OSError: it cannot be read.
    """
    data = bytearray(first)
    while (wanted := min(_CHUNK, most + 1 - len(data))) > 0:
        chunk = file.read(wanted)
        data += chunk
        if len(chunk) < wanted:
            return bytes(data)
    raise FileError(
        f"{source}: expected at most {most:,} bytes, found more; is it the file that you meant?"
    )


def parse_json(text: str) -> Any:
    """The JSON value that a text is.

    How deep a value Python can read, and write again, depends on how many functions are under way:
    what can be read in one place could not be in another. Hence a limit of 500 levels.

    Raises:
        json.JSONDecodeError: it is none.
        ValueError: it is one, but too deep, or has a number of thousands of digits.
    """
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("{") + text.count("[") > _DEEPEST and _is_too_deep(found):
        raise ValueError(_TOO_DEEP)
    return found


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file, open for reading in binary. Raises FileError."""
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: str | os.PathLike[str], error: OSError | ValueError) -> FileError:
    """The error for a file that cannot be read.

    A ValueError is what Python raises for a name that no file can have: it holds a NUL character
    or, being no valid Unicode, cannot be given to the system.
    """
    if isinstance(error, OSError):
        return FileError(f"cannot read {path}: {error.strerror or error}")
    return FileError(f"cannot read {os.fspath(path)!r}: no file can have this name; check it")


# A pipe is opened without waiting for whoever writes to it: nobody may.
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
    """The first byte of a pipe, nothing where its writer has none yet or has closed it.

    Raises FileError where it has no writer.
    """
    ready = bool(select.select([pipe], [], [], _PATIENCE)[0])
    try:
        byte = os.read(pipe, 1)
    except BlockingIOError:  # There is a writer, who takes his time.
        return b""
    if not byte and not ready:
        raise FileError(
            f"cannot read {path}: expected somebody to write to this pipe, found nobody for "
            f"{_PATIENCE:.0f} seconds; name a file, or start the writer first"
        )
    return byte
