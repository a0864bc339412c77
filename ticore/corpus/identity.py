"""What results depend on, as a digest: the input file and every setting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from ..errors import FileError
from ..inputs import open_file, unreadable

_EDGE = 1 << 20  # bytes at either end of a file that are looked at


def file_identity(path: Path) -> list[str]:
    """What tells whether a file is still the same, without reading all of it.

    A change in its middle that keeps size and time is not seen here: each part of the results has a
    digest of the texts that it was made of.

    Raises FileError.
    """
    try:
        with open_file(path) as file:
            size = file.seek(0, 2)
            file.seek(0)
            edges = blake2b(file.read(_EDGE))
            file.seek(max(0, size - _EDGE))
            edges.update(file.read(_EDGE))
        modified = path.stat().st_mtime_ns
    except FileError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    return [str(path.resolve()), str(size), str(modified), edges.hexdigest()]


def digest(key: bytes, things: Sequence[object]) -> str:
    """A digest of things and of the key, which it does not tell to anyone."""
    data = json.dumps(things, sort_keys=True).encode()
    return blake2b(data, key=key, digest_size=32, person=b"ticore corpus").hexdigest()
