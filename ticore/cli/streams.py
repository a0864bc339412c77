"""Standard input, output and error: bytes and text in, results out, progress on a terminal."""

from __future__ import annotations

import getpass
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..errors import FileError, KeyFormatError
from ..steganography.steganographer import Progress as Report

PASSWORD_VARIABLE = "TICORE_PASSWORD"


def read_message() -> bytes:
    """All of standard input."""
    return sys.stdin.buffer.read()


def read_text() -> str:
    """All of standard input as UTF-8 text, line ends untouched."""
    return decode_text(sys.stdin.buffer.read(), "standard input")


def decode_text(data: bytes, source: str) -> str:
    """`data` as UTF-8 text. Raises FileError naming `source`."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"{source}: expected UTF-8 text, found a byte at offset {error.start} that is none; "
            f"save the text as UTF-8"
        ) from None


def read_file(path: Path) -> bytes:
    """A whole file. Raises FileError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def ask_password() -> str:
    """From the environment if it is there, else from the terminal, never from standard input."""
    from_environment = os.environ.get(PASSWORD_VARIABLE)
    if from_environment is not None:
        return from_environment
    try:
        return getpass.getpass("Password: ")
    except (EOFError, OSError):
        raise KeyFormatError(
            f"expected a password, found no terminal to ask on; set {PASSWORD_VARIABLE}"
        ) from None


def write_bytes(data: bytes) -> None:
    """Put a result on standard output, byte for byte."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str) -> None:
    """Put a text on standard output; a line end is added for a terminal only."""
    write_bytes(text.encode() + (b"\n" if sys.stdout.isatty() else b""))


def write_json(value: object) -> None:
    """Put one JSON object on standard output."""
    write_bytes(json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")


def write_secret(text: str) -> None:
    """Put a secret on standard output; a file it is redirected to becomes its owner's alone."""
    if stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
        os.fchmod(sys.stdout.fileno(), 0o600)
    write_bytes(text.encode())


@contextmanager
def progress_bar(title: str) -> Iterator[Report | None]:
    """A progress bar on standard error while the block runs, or None where it is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn(title),
        BarColumn(),
        TextColumn("{task.completed:.0f} / {task.total:.0f} bits"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
