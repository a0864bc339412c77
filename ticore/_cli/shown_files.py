"""Pages and figures that commands write: they replace no file of another kind.

A name given by mistake may be that of the command's own input, and of the only copy of a key.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .._support.atomic_files import write_atomically
from ..errors import OutputFileError

_KIND = 9  # bytes: `<!DOCTYPE`, `<?xml ver`, or PNG's signature


def write_shown(path: Path, data: bytes) -> None:
    """Write a page or a figure, whole or not at all.

    Raises:
        OutputFileError: the file cannot be written; or it exists, is not empty, and is of another
            kind.
    """
    before = b""
    with suppress(OSError):  # of a file that cannot be read, writing says what is wrong
        if path.is_file():
            with path.open("rb") as file:
                before = file.read(_KIND)
    if before not in (b"", data[:_KIND]):
        raise OutputFileError(
            f"expected {path} to be a new file, or a page or figure of the same kind, found "
            f"another file; choose another name"
        )
    write_atomically(path, data)
