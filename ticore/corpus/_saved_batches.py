"""The saved results of a scan's batches, with which an interrupted scan goes on.

They are in a folder beside the output, one file per batch. A file is written whole or not at all.
The manifest has a digest of the input and the settings; with another digest all files are removed.
Each file begins with a digest of its results, its number and the texts of its batch. A file that is
damaged, or of other texts, counts as missing.

In a scan of many files, a summary takes the place of the results of a file that is finished, until
all files are. It has a digest of the output, and counts as missing if that has changed.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

from .._support.atomic_files import TEMPORARY, require_directory_of, write_atomically
from .._support.input_files import read_file
from ..errors import FileError, InputFileError, OutputFileError
from ._identity import file_identity
from ._lock import HeldError, Lock
from ._results import Result

_MANIFEST, _LOCK, _FINISHED = "manifest.json", "lock", "finished.json"
_MOST_MANIFEST = 4 << 10  # bytes
_MOST_PART = 1 << 30
_PART = re.compile(r"\d{6,}\.json")


class SavedBatches:
    """The folder of saved results of one output, locked against other scans. Use one per thread.

    As a context manager it is closed at the end. After an exception, a folder without results or a
    summary is removed.

    Args:
        output: the output of the scan.
        digest: of everything that the results depend on, except the texts.
        tell: called with a sentence that says what was found.
        result: the NamedTuple of a row's results.

    Attributes:
        folder: the output's name with `.parts` at its end.
        refused: how many files were damaged, of an earlier version, or of other texts.

    Raises:
        OutputFileError: the folder cannot be made, has other files, or another scan uses it.
    """

    def __init__(
        self,
        output: Path,
        digest: str,
        tell: Callable[[str], None],
        result: type[Any] = Result,
    ) -> None:
        self._result, self._output = result, output
        self.folder = _folder_of(output)
        self.refused = 0
        self._digest = digest
        require_directory_of(output)
        with _using(self.folder):
            self._lock = self._locked(output)
        try:
            self._begin(tell)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SavedBatches:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            is_kept = (self.folder / _FINISHED).exists()
            if error is not None and not is_kept and not self._count():
                self.remove()
        except OSError:  # The first error is the one to report.
            pass
        finally:
            self.close()

    def holds(self, index: int, texts: bytes) -> bool:
        """Whether the results of a batch are saved.

        Args:
            index: number of the batch, from 0.
            texts: `Batch.digest`.
        """
        return self._body(index, texts) is not None

    def put(self, index: int, texts: bytes, results: Sequence[Any]) -> None:
        """Save the results of a batch. Raises OutputFileError."""
        body = json.dumps(results).encode()
        seal = self._seal(index, texts, body)
        write_atomically(self._path(index), seal + b"\n" + body)

    def get(self, index: int, texts: bytes) -> list[Any] | None:
        """The results of a batch; None if they are not saved."""
        body = self._body(index, texts)
        return None if body is None else [self._result(*row) for row in json.loads(body)]

    def keep(self, summary: dict[str, Any]) -> None:
        """Keep a summary in the place of the results, when the output is finished.

        Args:
            summary: in types that JSON has.

        Raises:
            OutputFileError: it cannot be written, or the results cannot be removed.
        """
        output = self._digest_of_output()
        if output is None:
            return self.remove()
        body = json.dumps(summary).encode()
        seal = self._seal(_FINISHED, output, body)
        write_atomically(self.folder / _FINISHED, seal + b"\n" + body)
        with _removing(self.folder):
            _clear(self.folder)

    def kept(self) -> dict[str, Any] | None:
        """The summary; None if there is none, or the output is another one than it was then."""
        output = self._digest_of_output()
        body = output and self._sealed(self.folder / _FINISHED, _FINISHED, output)
        return None if body is None else dict(json.loads(body))

    def remove(self) -> None:
        """Remove the folder. Raises OutputFileError."""
        with _removing(self.folder):
            _clear(self.folder)
            (self.folder / _FINISHED).unlink(missing_ok=True)
            # Last, so that the folder never has results without a manifest.
            (self.folder / _MANIFEST).unlink(missing_ok=True)
            self.close()
            self.folder.rmdir()

    def close(self) -> None:
        """Release the folder for other scans."""
        self._lock.release()

    def _locked(self, output: Path) -> Lock:
        while True:
            self.folder.mkdir(exist_ok=True)
            try:
                _require_ours(self.folder)
                return Lock(self.folder / _LOCK)
            except HeldError as holder:
                raise OutputFileError(
                    f"expected no other scan that writes {output}, found one under way "
                    f"({holder}); wait for it, or choose another output"
                ) from None
            except FileNotFoundError:
                # The scan that had the folder has just removed it.
                continue

    def _begin(self, tell: Callable[[str], None]) -> None:
        manifest = self.folder / _MANIFEST
        known = _digest(manifest) if manifest.exists() else None
        if known == self._digest:
            count = self._count()
            if not count:
                return
            said = "1 batch was" if count == 1 else f"{count} batches were"
            tell(f"going on: {said} scanned before")
            return
        if known is not None:
            tell("the input or a setting has changed: starting from the beginning")
        _clear(self.folder)
        (self.folder / _FINISHED).unlink(missing_ok=True)
        write_atomically(manifest, json.dumps({"digest": self._digest}).encode())

    def _body(self, index: int, texts: bytes) -> bytes | None:
        """The content of a file of results; None if it is missing, damaged, or of other texts."""
        path = self._path(index)
        if not path.exists():
            return None
        body = self._sealed(path, index, texts)
        self.refused += body is None
        return body

    def _sealed(self, path: Path, name: int | str, of: bytes) -> bytes | None:
        """What is in a file after its seal; None if it has another seal, or cannot be read."""
        try:
            seal, _, body = read_file(path, _MOST_PART).partition(b"\n")
        except InputFileError:
            return None
        return body if seal == self._seal(name, of, body) else None

    def _seal(self, name: int | str, of: bytes, body: bytes) -> bytes:
        found = blake2b(digest_size=32, person=b"ticore part 1")
        found.update(f"{self._digest} {name}\n".encode())
        found.update(of)
        found.update(body)
        return found.hexdigest().encode()

    def _digest_of_output(self) -> bytes | None:
        """Another one after each change of the output; None: there is none that can be read."""
        with suppress(InputFileError):
            return json.dumps(file_identity(self._output)).encode()
        return None

    def _count(self) -> int:
        return sum(_PART.fullmatch(path.name) is not None for path in self.folder.iterdir())

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:06}.json"


def require_usable(output: Path) -> None:
    """Refuse an output whose folder of saved results would be something else.

    Raises OutputFileError.
    """
    folder = _folder_of(output)
    with _using(folder), suppress(FileNotFoundError):
        _require_ours(folder)


def _require_ours(folder: Path) -> None:
    files = {path.name for path in folder.iterdir()}
    if _MANIFEST in files and _digest(folder / _MANIFEST) is not None:
        return
    if not all(map(_is_ours, files)):
        raise OutputFileError(
            f"expected {folder} to hold the saved results of a scan, found something else; remove "
            f"it, or choose another output"
        )


def forget(output: Path) -> None:
    """Remove the summary that was kept of a finished scan, and its folder.

    The folder is left to a scan of the same output that has begun. Raises OutputFileError.
    """
    folder = _folder_of(output)
    with _removing(folder), suppress(HeldError, FileNotFoundError):
        lock = Lock(folder / _LOCK)
        try:
            (folder / _FINISHED).unlink()
            _clear(folder)
            (folder / _MANIFEST).unlink()
        finally:
            lock.release()
        folder.rmdir()


@contextmanager
def _using(folder: Path) -> Iterator[None]:
    """An error inside the block becomes an OutputFileError."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        why = error.strerror if isinstance(error, OSError) else None
        raise OutputFileError(f"cannot use {str(folder)!r}: {why or error}") from error


@contextmanager
def _removing(folder: Path) -> Iterator[None]:
    """An error inside the block becomes an OutputFileError, unless another scan has begun."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise OutputFileError(f"cannot remove {folder}: {error.strerror or error}") from error


def _clear(folder: Path) -> None:
    """Remove the results of batches, and what a killed process left."""
    for path in folder.iterdir():
        if _PART.fullmatch(path.name) or TEMPORARY.fullmatch(path.name):
            path.unlink()


def _folder_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts")


def _is_ours(name: str) -> bool:
    known = (
        name in (_MANIFEST, _LOCK, _FINISHED) or _PART.fullmatch(name) or TEMPORARY.fullmatch(name)
    )
    return bool(known)


def _digest(manifest: Path) -> str | None:
    try:
        return str(json.loads(read_file(manifest, _MOST_MANIFEST))["digest"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
