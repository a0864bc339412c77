"""A digest of everything that results depend on: the input file and all settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from .._support.input_files import open_file, unreadable
from ..errors import InputFileError

_EDGE = 1 << 20  # bytes that are read at each end of a file


def file_identity(path: Path) -> list[str]:
    """Values that change when a file changes: path, size, time, and a digest of its two ends.

    A change in the middle that keeps size and time is not seen here. It is seen later, since the
    saved results of each batch have a digest of its texts.

    Raises InputFileError.
    """
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            file.seek(0)
            edges = blake2b(file.read(_EDGE))
            file.seek(max(0, size - _EDGE))
            edges.update(file.read(_EDGE))
        modified = path.stat().st_mtime_ns
    except InputFileError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    return [str(path.resolve()), str(size), str(modified), edges.hexdigest()]


def digest(key: bytes, things: Sequence[object]) -> str:
    """A hex digest of `things`, keyed with `key`: it does not reveal the key."""
    data = json.dumps(things, sort_keys=True).encode()
    return blake2b(data, key=key, digest_size=32, person=b"ticore corpus").hexdigest()


def plain_setting(value: object, shown: Callable[[object], str] = str) -> object:
    """What a digest of settings has for a value that JSON lacks.

    An array is all its numbers: as text, NumPy and torch leave out most of many, and round them. A
    number of NumPy is text, as in the scans of earlier versions, which go on.

    Args:
        value: that `json.dumps` cannot write.
        shown: gives the text of anything but an array.
    """
    listed = getattr(value, "tolist", None)
    if listed is None or isinstance(value, np.generic):
        return shown(value)
    return listed()
