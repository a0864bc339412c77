"""Standard input, output and error: bytes and text in, results out, progress on a terminal."""

from __future__ import annotations

import getpass
import json
import os
import stat
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from ..errors import FileError, KeyFormatError
from ..inputs import parse_json, read_at_most, read_file
from ..steganography.writing import Progress as Report

PASSWORD_VARIABLE = "TICORE_PASSWORD"

# How many bytes are read of whatever is named on the command line, be it /dev/zero.
MOST_SETTINGS = 16 << 20
MOST_TEXT = 256 << 20


def read_bytes(what: str) -> bytes:
    """All of standard input. A person at a terminal is asked for `what`.

    Raises FileError: it is closed, cannot be read, or is larger than 256 MiB.
    """
    if sys.stdin is None:
        raise FileError(f"expected {what} on standard input, found it closed; use: < FILE")
    if sys.stdin.isatty():
        note(f"type {what} and end it with Ctrl-D on a line of its own")
    try:
        return read_at_most(sys.stdin.buffer, MOST_TEXT, "standard input")
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read standard input: {error.strerror or error}") from error


def read_text(what: str) -> str:
    """All of standard input as UTF-8 text, line ends untouched. Raises FileError."""
    return decode_text(read_bytes(what), "standard input")


def decode_text(data: bytes, source: str) -> str:
    """`data` as UTF-8 text. Raises FileError naming `source`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"{source}: expected UTF-8 text, found a byte at offset {error.start} that is none; "
            f"save the text as UTF-8"
        ) from None


def read_text_file(path: Path, most: int = MOST_TEXT) -> str:
    """A file of UTF-8 text, of at most so many bytes. Raises FileError."""
    return decode_text(read_file(path, most), str(path))


def read_json_file(path: Path, what: str) -> object:
    """The JSON value in a file of at most 16 MiB, which should be `what`. Raises FileError."""
    text = read_text_file(path, MOST_SETTINGS)
    try:
        return parse_json(text)
    except ValueError as error:
        raise FileError(f"{path}: expected {what}: {error}") from None


def ask_password(*, twice: bool) -> str:
    """From the environment if it is there, else from the terminal, never from standard input.

    In the environment it is gone then: processes that this one starts do not inherit it.

    Args:
        twice: ask again, since a slip would make what is written unreadable.

    Raises:
        KeyFormatError: there is no terminal, nothing was typed, or the second one differs.
    """
    from_environment = os.environ.pop(PASSWORD_VARIABLE, None)
    if from_environment is not None:
        return from_environment
    try:
        with warnings.catch_warnings():
            # getpass warns, and then reads standard input, where the message is.
            warnings.simplefilter("error", getpass.GetPassWarning)
            password = getpass.getpass("Password: ")
            if twice and password and getpass.getpass("Password again: ") != password:
                raise KeyFormatError("the two passwords differ; try again")
    except EOFError:
        note()
        raise KeyFormatError("expected a password, found none; try again") from None
    except (getpass.GetPassWarning, OSError):
        raise KeyFormatError(
            f"expected a password, found no terminal to ask for it; set {PASSWORD_VARIABLE}"
        ) from None
    return password


def write_bytes(data: bytes) -> None:
    """Put a result on standard output, byte for byte. Raises FileError."""
    with _stdout() as stdout:
        stdout.write(data)


def write_line(data: bytes) -> None:
    """As `write_bytes`; a terminal gets a line end where there is none."""
    with _stdout() as stdout:
        stdout.write(data)
        if stdout.isatty() and not data.endswith(b"\n"):
            stdout.write(b"\n")


def write_json(value: object) -> None:
    """Put one JSON value on standard output. Raises FileError."""
    write_bytes(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")


def write_secret(text: str) -> None:
    """Put a secret on standard output; a file it is redirected to becomes its owner's alone.

    A shell makes that file before this process runs. Whoever opened it before it was closed to
    others can read what is written later: where the file's mode was wider there is a warning.

    Raises FileError, also where the file cannot be closed to others: nothing is written then.
    """
    open_to = 0
    with _stdout() as stdout:
        descriptor = stdout.fileno()
        found = os.fstat(descriptor).st_mode
        if os.name == "posix" and stat.S_ISREG(found):
            open_to = stat.S_IMODE(found) & 0o077
            os.fchmod(descriptor, 0o600)
        stdout.write(text.encode())
    if open_to:
        note(
            f"ticore: the file was open to others (mode {stat.S_IMODE(found):04o}) until the key "
            f"was written: who opened it before can read the key; make another one with -o FILE"
        )


def show(*renderables: RenderableType) -> None:
    """Put tables and the like on standard output, laid out for its width. Raises FileError."""
    with _stdout() as stdout:
        console = Console()
        with console.capture() as capture:
            for renderable in renderables:
                console.print(renderable)
        stdout.write(capture.get().encode(console.encoding, errors="replace"))


def note(text: str = "") -> None:
    """Put a line on standard error, if there is anyone to read it."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def printable(text: str, keep: str = "") -> str:
    r"""`text` with what a terminal would obey, or cannot show, as escapes; `keep` stays.

    >>> printable("a\x1b[2Jb\udcff\n")
    'a\\x1b[2Jb\\udcff\\n'
    """
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text
    )


def abandon_stdout() -> None:
    """Send what is still in the buffer nowhere: Python would fail to flush it, and complain."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar(title: str) -> Iterator[Report | None]:
    """A progress bar on standard error while the block runs, or None where it is no terminal."""
    console = Console(stderr=True)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield None
        return
    columns = (
        TextColumn("{task.description}", style="dim"),
        BarColumn(),
        TaskProgressColumn(style="dim"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _stdout() -> Iterator[BinaryIO]:
    """Standard output; what was written to it has left when the block ends. Raises FileError."""
    if sys.stdout is None:
        raise FileError("expected to write to standard output, found it closed; use: > FILE")
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        abandon_stdout()
        raise FileError(f"cannot write standard output: {error.strerror or error}") from error
