"""Tables on disk: arrays that were costly to compute, kept in the user's cache folder.

A file holds a digest of itself and of the name that it was stored under; one that is damaged,
belongs to another name, or was written by another version of this format, is as good as absent.
So is one whose arrays do not fit together, which whoever unpacks them finds out.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from ..errors import FileError
from ..files import remove_leftovers, write_atomically

T = TypeVar("T")

Arrays = Mapping[str, npt.NDArray[np.generic]]

# Changes whenever the meaning of a stored table does.
_FORMAT = b"ticore tables 8\n"
_DIGEST = hashlib.sha256
_SET_ASIDE = ContextVar("set aside", default=False)


def folder() -> Path:
    """Where tables are kept: $TICORE_CACHE, or ticore's folder in the user's cache."""
    given = os.environ.get("TICORE_CACHE")
    return Path(given) if given else user_cache_path("ticore")


@contextmanager
def set_aside() -> Iterator[None]:
    """Within, nothing that is stored is used: tables are built, and stored, anew."""
    token = _SET_ASIDE.set(True)
    try:
        yield
    finally:
        _SET_ASIDE.reset(token)


def load(name: str) -> Arrays | None:
    """The arrays stored under `name`; None if there are none that can be trusted."""
    if _SET_ASIDE.get():
        return None
    try:
        content = (folder() / f"{name}.tables").read_bytes()
    except OSError:
        return None
    head, digest, body = _parts(content)
    if head != _FORMAT or _digest(name, body) != digest:
        return None
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as stored:
            return dict(stored)
    except Exception:  # whatever a file makes of NumPy and zipfile, it holds no tables
        return None


def save(name: str, arrays: Arrays) -> None:
    """Store `arrays`; where the folder cannot be written, nothing is stored."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stub takes arrays for its flags
    body = buffer.getvalue()
    try:
        folder().mkdir(parents=True, exist_ok=True)
        write_atomically(folder() / f"{name}.tables", _FORMAT + _digest(name, body) + body)
        remove_leftovers(folder())
    except (OSError, FileError):
        return


def unpacked(name: str, unpack: Callable[[Arrays], T]) -> T | None:
    """What `unpack` makes of the arrays stored under `name`.

    None if there are none, or if `unpack` raises whatever it may: arrays that do not fit are to be
    made anew.
    """
    arrays = load(name)
    if arrays is None:
        return None
    try:
        return unpack(arrays)
    except Exception:
        return None


def _digest(name: str, body: bytes) -> bytes:
    digest = _DIGEST(_FORMAT)
    digest.update(_DIGEST(name.encode()).digest())
    digest.update(body)
    return digest.digest()


def _parts(content: bytes) -> tuple[bytes, bytes, bytes]:
    start = len(_FORMAT)
    end = start + _DIGEST().digest_size
    return content[:start], content[start:end], content[end:]
