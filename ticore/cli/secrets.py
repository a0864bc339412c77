"""Files and words that hold a secret: whether others can read or guess them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from . import streams

LEAST_PASSWORD = 12
"""Characters. Argon2id makes guesses slow, but short passwords are few."""

_OTHERS = 0o077  # what the file's group and everyone else may do


def warn_of_others(path: Path | None) -> None:
    """Put a line on standard error if others than its owner may open the file at `path`.

    To be called when all is done: where something fails, one line says why, and no other. Where
    modes say nothing (Windows), or there is no file, nothing is said.
    """
    if path is None:
        return
    try:
        found = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # whoever reads it says so
    mode = stat.S_IMODE(found)
    if os.name == "posix" and stat.S_ISREG(found) and mode & _OTHERS:
        streams.note(
            f"ticore: warning: {streams.printable(str(path))} holds a key, and others may open it "
            f"(mode {mode:04o}); close it to them: chmod 600 {streams.printable(str(path))}"
        )


def warn_of_short(password: str) -> None:
    """Put a line on standard error if a new password is short."""
    if len(password) < LEAST_PASSWORD:
        streams.note(
            f"ticore: warning: a password of {len(password)} characters may be guessed; take at "
            f"least {LEAST_PASSWORD}, such as four words that do not belong together, or a key file"
        )
