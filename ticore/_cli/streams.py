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
from typing import TYPE_CHECKING, BinaryIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from .._support.input_files import parse_json, read_at_most, read_file
from ..errors import CredentialError, InputFileError, OutputFileError

if TYPE_CHECKING:  # it would take half of the time in which a command without messages starts
    from ..steganography._embedding import Progress as Report

PASSWORD_VARIABLE = "TICORE_PASSWORD"
STANDARD_INPUT = "standard input"

# The most bytes that are read of a file, since a name may be that of /dev/zero.
MOST_SETTINGS = 16 << 20
MOST_TEXT = 256 << 20
_LEAST_WIDTH, _USUAL_WIDTH = 20, 80  # characters in a line of a terminal


def read_bytes(what: str) -> bytes:
    """All of standard input.

    Args:
        what: the content, such as "the text": a person at a terminal is asked for it.

    Raises:
        InputFileError: standard input is closed, cannot be read, or is larger than 256 MiB.
    """
    if sys.stdin is None:
        raise InputFileError(f"expected {what} on standard input, found it closed; use: < FILE")
    if sys.stdin.isatty():
        note(f"type {what} and end it with Ctrl-D on a line of its own")
    try:
        return read_at_most(sys.stdin.buffer, MOST_TEXT, STANDARD_INPUT)
    except InputFileError:
        raise
    except OSError as error:
        raise InputFileError(f"cannot read standard input: {error.strerror or error}") from error


def read_text(what: str) -> str:
    """All of standard input as UTF-8 text, with its line ends as they are.

    Raises:
        InputFileError: as `read_bytes`, or it is not UTF-8.
    """
    return decode_text(read_bytes(what), STANDARD_INPUT)


def read_argument(path: Path | None, what: str) -> tuple[bytes, str]:
    """The content of a file argument, and its name for errors.

    Args:
        path: None or `-` means standard input.
        what: what a person at a terminal is asked for.

    Raises:
        InputFileError: it cannot be read, or is larger than 256 MiB.
    """
    if path is None or str(path) == "-":
        return read_bytes(what), STANDARD_INPUT
    return read_file(path, MOST_TEXT), str(path)


def decode_text(data: bytes, source: str) -> str:
    """`data` as UTF-8 text.

    Raises:
        InputFileError: it is not UTF-8; the error names `source`.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"{source}: expected UTF-8 text, found an invalid byte at offset {error.start}; "
            f"save the text as UTF-8"
        ) from None


def read_text_file(path: Path, most: int = MOST_TEXT) -> str:
    """The UTF-8 text in a file of at most `most` bytes.

    Raises:
        InputFileError: the file cannot be read, is larger, or is not UTF-8.
    """
    return decode_text(read_file(path, most), str(path))


def read_json_file(path: Path, what: str) -> object:
    """The JSON value in a file of at most 16 MiB.

    Args:
        path: the file.
        what: what the file should hold, for errors.

    Raises:
        InputFileError: the file cannot be read, is larger, or is not JSON.
    """
    text = read_text_file(path, MOST_SETTINGS)
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputFileError(
            f"{path}: expected {what}, found something that is not JSON ({error})"
        ) from None


def ask_password(*, twice: bool) -> str:
    """The password, from the environment or else from the terminal, but never from standard input.

    It is removed from the environment, so that processes which this one starts do not inherit it.

    Args:
        twice: ask a second time, since a typing error would make the written text unreadable.

    Raises:
        CredentialError: there is no terminal, nothing was typed, or the second password differs.
    """
    from_environment = os.environ.pop(PASSWORD_VARIABLE, None)
    if from_environment is not None:
        return from_environment
    try:
        with warnings.catch_warnings():
            # getpass would warn and then read standard input, which holds the message.
            warnings.simplefilter("error", getpass.GetPassWarning)
            password = getpass.getpass("Password: ")
            if twice and password and getpass.getpass("Password again: ") != password:
                raise CredentialError("the two passwords differ; try again")
    except EOFError:
        note()
        raise CredentialError("expected a password, found none; try again") from None
    except (getpass.GetPassWarning, OSError):
        raise CredentialError(
            f"expected a password, found no terminal to ask for it; set {PASSWORD_VARIABLE}"
        ) from None
    return password


def write_bytes(data: bytes) -> None:
    """Write a result to standard output, byte for byte.

    Raises:
        OutputFileError: standard output is closed or cannot be written.
    """
    with _stdout() as stdout:
        stdout.write(data)


def write_line(data: bytes) -> None:
    """Write a result as `write_bytes` does; on a terminal, end the line if `data` does not."""
    with _stdout() as stdout:
        stdout.write(data)
        if stdout.isatty() and not data.endswith(b"\n"):
            stdout.write(b"\n")


def write_json(value: object) -> None:
    """Write one JSON value to standard output. Raises as `write_bytes`.

    What is not Unicode, in a file's name, becomes an escape.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    write_bytes(text.encode(errors="backslashreplace") + b"\n")


def write_secret(text: str) -> None:
    """Put a secret on standard output. A file it is redirected to becomes its owner's alone.

    A shell opens that file before this process runs, and empties it for `>`. What it held before
    cannot be seen or saved, so a note advises -o FILE. A file that still holds something, as after
    `>>`, is refused.

    Raises:
        OutputFileError: standard output cannot be written, or is a file that is not empty or that
            cannot be closed to others. Nothing is written then.
    """
    advice = ""
    with _stdout() as stdout:
        descriptor = stdout.fileno()
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            if found.st_size:
                raise OutputFileError(
                    f"expected standard output to be empty, found a file with {found.st_size:,} "
                    f"bytes, which may hold a key; use -o FILE"
                )
            advice = "a redirection replaces an existing key without asking; use -o FILE"
            open_to = stat.S_IMODE(found.st_mode) & 0o077
            if os.name == "posix":
                os.fchmod(descriptor, 0o600)
                if open_to:
                    advice = (
                        f"the file was open to others (mode {stat.S_IMODE(found.st_mode):04o}) "
                        f"before the key was written, and one who opened it can read the key; make "
                        f"another key with -o FILE"
                    )
        stdout.write(text.encode())
    if advice:
        note(f"ticore: {advice}")


def show(*renderables: RenderableType) -> None:
    """Write tables and the like to standard output, as wide as it is. Raises as `write_bytes`.

    Tables fill their lines with spaces, which a terminal does not show; a file gets none of them.
    """
    with _stdout() as stdout:
        console = Console()
        if console.width < _LEAST_WIDTH:  # COLUMNS=0: rich would write nothing
            console.width = _USUAL_WIDTH
        with console.capture() as capture:
            for renderable in renderables:
                console.print(renderable)
        shown = capture.get()
        if not stdout.isatty():
            shown = "\n".join(line.rstrip(" ") for line in shown.split("\n"))
        stdout.write(shown.encode(console.encoding, errors="replace"))


def note(text: str = "") -> None:
    """Write a line to standard error; do nothing if that is closed."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def abandon_stdout() -> None:
    """Discard what is still in the buffer, which Python would fail to flush when it exits."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bar(title: str) -> Iterator[Report | None]:
    """A progress bar on standard error while the block runs; None if that is not a terminal."""
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
    """Standard output, flushed when the block ends. Raises OutputFileError."""
    if sys.stdout is None:
        raise OutputFileError("expected to write to standard output, found it closed; use: > FILE")
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OutputFileError:
        raise
    except OSError as error:
        abandon_stdout()
        raise OutputFileError(f"cannot write standard output: {error.strerror or error}") from error
