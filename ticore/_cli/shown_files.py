"""Pages and figures that commands write: they replace no file of another kind.

A name given by mistake may be that of the command's own input, and of the only copy of a key.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .._support.atomic_files import write_atomically, written_atomically
from ..errors import OutputFileError

_PAGE = b"<!DOCTYPE"
_FIGURES = {".svg": b"<?xml ver", ".png": b"\x89PNG\r\n\x1a\n\0"}
_KIND = 9  # bytes of each


def require_place(path: Path) -> None:
    """Refuse a file that a page or figure could not be written to, before the work for it is done.

    Args:
        path: of a figure if it ends in .svg or .png, else of a page.

    Raises:
        OutputFileError: see `write_shown`.
    """
    _require_kind(path, _FIGURES.get(path.suffix.lower(), _PAGE))
    with suppress(_Rehearsed), written_atomically(path):
        raise _Rehearsed


def write_shown(path: Path, data: bytes) -> None:
    """Write a page or a figure, whole or not at all.

    Raises:
        OutputFileError: the file cannot be written; or it exists, is not empty, and is of another
            kind.
    """
    _require_kind(path, data[:_KIND])
    write_atomically(path, data)


class _Rehearsed(Exception):
    """Nothing is to be written."""


def _require_kind(path: Path, kind: bytes) -> None:
    before = b""
    with suppress(OSError):  # of a file that cannot be read, writing says what is wrong
        if path.is_file():
            with path.open("rb") as file:
                before = file.read(_KIND)
    if before not in (b"", kind):
        raise OutputFileError(
            f"expected {path} to be a new file, or a page or figure of the same kind, found "
            f"another file; choose another name"
        )
