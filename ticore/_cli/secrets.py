"""Secrets on the command line: where they are written, and warnings about files and passwords."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .._support.atomic_files import write_new_secret
from .._support.visible import visible
from ..steganography._keys import password_advice
from . import streams

_OTHERS = 0o077  # what the file's group and everyone else may do


def warn_of_others(path: Path | None) -> None:
    """Put a line on standard error if others than its owner may open the file at `path`.

    Call it when all else has succeeded: after an error, standard error has only the line that says
    why. There is no warning without a file, or where file modes mean nothing (Windows).
    """
    if path is None:
        return
    try:
        found = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # the code that reads the file reports the error
    mode = stat.S_IMODE(found)
    if os.name == "posix" and stat.S_ISREG(found) and mode & _OTHERS:
        streams.note(
            f"ticore: warning: {visible(str(path))} holds a key, and others may open it "
            f"(mode {mode:04o}); close it to them: chmod 600 {visible(str(path))}"
        )


def warn_of_short(password: str) -> None:
    """Put a line on standard error if a new password is short."""
    if advice := password_advice(password):
        streams.note(f"ticore: warning: {advice}")


def hand_out(secret: str, output: Path | None) -> None:
    """Write a text that holds a key to a new file or standard output. Raises OutputFileError."""
    if output is None:
        streams.write_secret(secret)
    else:
        write_new_secret(output, secret.encode())
