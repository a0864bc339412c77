"""Results that are kept while a scan is under way, so that it can go on where it stopped.

They stand in a folder beside the output, one file for each batch. A file is there whole or not at
all. The manifest says what they are results of; those of anything else are of no use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import FileError
from ..files import write_atomically
from .results import Result

_MANIFEST = "manifest.json"
# The second: what `write_atomically` leaves behind if it is killed.
_OWN = re.compile(r"\d{6,}\.json|\.ticore-[0-9a-f]+\.tmp")


class Parts:
    """The folder of parts of one output.

    Args:
        output: the file that is to be written in the end.
        digest: of everything that the results depend on.
        tell: is told, in a sentence, what was found.

    Attributes:
        folder: where they are.

    Raises:
        FileError: the folder cannot be made, or has another purpose.
    """

    def __init__(self, output: Path, digest: str, tell: Callable[[str], None]) -> None:
        self.folder = output.with_name(output.name + ".parts")
        manifest = self.folder / _MANIFEST
        try:
            self.folder.mkdir(exist_ok=True)
            files = [path.name for path in self.folder.iterdir()]
            known = _digest(manifest) if _MANIFEST in files else None
        except OSError as error:
            raise FileError(f"cannot use {self.folder}: {error.strerror or error}") from error
        if known is None and files and not all(map(_OWN.fullmatch, set(files) - {_MANIFEST})):
            raise FileError(
                f"expected {self.folder} to hold parts of a scan, found something else; "
                f"remove it, or choose another output"
            )
        if known == digest:
            count = self._count()
            said = "1 batch was" if count == 1 else f"{count} batches were"
            tell(f"going on: {said} scanned before")
            return
        if known is not None:
            tell("the input or a setting is another than before: starting anew")
        self._clear()
        write_atomically(manifest, json.dumps({"digest": digest}).encode())

    def __contains__(self, index: int) -> bool:
        return self._path(index).exists()

    def put(self, index: int, results: Sequence[Result]) -> None:
        """Keep the results of a batch. Raises FileError."""
        write_atomically(self._path(index), json.dumps(results).encode())

    def get(self, index: int) -> list[Result]:
        """The results of a batch. Raises FileError."""
        try:
            return [Result(*row) for row in json.loads(self._path(index).read_bytes())]
        except (OSError, ValueError, TypeError) as error:
            raise FileError(
                f"cannot read {self._path(index)}: {error}; remove it and start again"
            ) from error

    def remove(self) -> None:
        """Remove the folder. Raises FileError."""
        try:
            self._clear()
            # Last, so that nobody ever finds parts without it.
            (self.folder / _MANIFEST).unlink(missing_ok=True)
            self.folder.rmdir()
        except OSError as error:
            raise FileError(f"cannot remove {self.folder}: {error.strerror or error}") from error

    def _clear(self) -> None:
        for path in self.folder.iterdir():
            if _OWN.fullmatch(path.name):
                path.unlink()

    def _count(self) -> int:
        return sum(path.name[0] != "." for path in self.folder.iterdir()) - 1

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06}.json"


def _digest(manifest: Path) -> str | None:
    try:
        return str(json.loads(manifest.read_bytes())["digest"])
    except (ValueError, KeyError, TypeError):
        return None
