"""A digest of all that decides what a tokenizer reads and writes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from .._support.code_digest import code_digest
from .._version import __version__

_HERE = Path(__file__).parent


def reader_digest(data: bytes, adapter: Path, library: str) -> str:
    """What `LibraryTokenizer.reader_digest` is to be.

    Args:
        data: the tokenizer as its library writes it, or the content of its file.
        adapter: the folder of the adapter's code.
        library: the version of the library that it calls.

    Returns:
        The digest of `data`, a hyphen, and that of the code; empty if the code cannot be read, as
        where only compiled files are installed.
    """
    code = code_digest(adapter, _HERE)
    if not code:
        return ""
    versions = f"{code} {__version__} {library}"
    return f"{sha256(data).hexdigest()}-{sha256(versions.encode()).hexdigest()}"
