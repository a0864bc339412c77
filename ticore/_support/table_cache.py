"""Tables on disk: arrays that take long to compute, in the user's cache folder.

A file holds a digest of its content and of the name that it was stored under. A file is treated as
absent if it is damaged, was stored under another name, or has another version of the format; and
if its arrays do not fit together, which the function that unpacks them notices.

Several threads and processes may load and save at the same time: a file is replaced as a whole.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from ..errors import FileError
from .atomic_files import remove_leftovers, write_atomically
from .user_folders import user_folder

T = TypeVar("T")

Arrays = Mapping[str, npt.NDArray[np.generic]]

# Changes whenever the meaning of a stored table does.
_FORMAT = b"ticore tables 8\n"
_DIGEST = hashlib.sha256
_PART = 1 << 20  # bytes that are read at once
_IGNORED = ContextVar("stored tables are ignored", default=False)


def folder() -> Path | None:
    """The folder of the tables: $TICORE_CACHE, or `ticore` in the user's cache folder.

    None where there is neither: then no tables are kept.
    """
    given = os.environ.get("TICORE_CACHE")
    return Path(given) if given else user_folder(user_cache_path)


@contextmanager
def ignore_stored() -> Iterator[None]:
    """Inside, stored tables are not used: tables are built and stored again."""
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


def load(name: str) -> Arrays | None:
    """The arrays stored under `name`; None if there are none, or they are not trustworthy."""
    where = folder()
    if where is None or _IGNORED.get():
        return None
    try:
        with (where / f"{name}.tables").open("rb") as file:
            head, digest = file.read(len(_FORMAT)), file.read(_DIGEST().digest_size)
            start = file.tell()
            if head != _FORMAT or _digest(name, _in_parts(file)) != digest:
                return None
            file.seek(start)
            with np.load(file, allow_pickle=False) as stored:
                return dict(stored)
    except Exception:  # NumPy and zipfile raise many kinds of errors for a file without tables
        return None


def save(name: str, arrays: Arrays) -> None:
    """Store `arrays` under `name`; store nothing if there is no folder that can be written."""
    where = folder()
    if where is None:
        return
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stub takes arrays for its flags
    body = buffer.getvalue()
    try:
        where.mkdir(parents=True, exist_ok=True)
        write_atomically(where / f"{name}.tables", _FORMAT + _digest(name, [body]) + body)
        remove_leftovers(where)
    except (OSError, FileError):
        return


def load_unpacked(name: str, unpack: Callable[[Arrays], T]) -> T | None:
    """What `unpack` makes of the arrays stored under `name`.

    None if there are none, or if `unpack` raises any exception: then the arrays do not fit, and are
    to be built again.
    """
    arrays = load(name)
    if arrays is None:
        return None
    try:
        return unpack(arrays)
    except Exception:
        return None


def _digest(name: str, parts: Iterable[bytes]) -> bytes:
    digest = _DIGEST(_FORMAT)
    digest.update(_DIGEST(name.encode()).digest())
    for part in parts:
        digest.update(part)
    return digest.digest()


def _in_parts(file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file, in parts: its arrays fill the memory once, and not their file as well."""
    return iter(lambda: file.read(_PART), b"")
