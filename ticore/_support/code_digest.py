"""A digest of the code in a folder: with it, what one version of the code stored is no other's."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path


@cache
def code_digest(*folders: Path) -> str:
    """Hex digest of the Python files below `folders`, and of the version of Python.

    What code learned may be stored under it: after any change to a file it is not found again.
    Some milliseconds for a hundred files; computed once in a process.

    Returns:
        An empty text if there are no such files, as where only compiled ones are installed.
    """
    digest = hashlib.sha256(sys.version.encode())
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    for file in files:
        content = file.read_bytes()
        digest.update(b"%s\0%d\0%b" % (file.name.encode(), len(content), content))
    return digest.hexdigest() if files else ""
