"""Files with a JSON object on each line, which may be packed by gzip.

The object on a line is written as it was read, byte for byte, with the results at its end: numbers
keep their digits and keys their order. What stands around it is left out. A line that is not an
object, or has a column that the scan adds, is written as `{"raw": "..."}`, or as
`{"raw_base64": "..."}` if it is not UTF-8. The content of a line beyond 64 MiB is not written.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from .._support.input_files import open_file, parse_json, unreadable
from ..errors import InputFileError
from ._base import Batch, CorpusText, Problem
from ._batch_digests import digest_of_lines
from ._columns import Columns, columns_of, expected_no_column, kind_of
from ._results import COLUMNS

_MOST_BYTES = 64 << 20  # of a line: a file without line ends must not fill the memory
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder each time
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # what some editors put before a text in UTF-8
_GZIP = 31  # zlib's number for gzip's format with the largest window
_LEVEL = 4  # two fifths of the time of 6, for 4 % more bytes


@dataclass(frozen=True)
class JsonlRecord:
    """A line.

    Attributes:
        line: the object on it as it was read, or an object with `raw` or `raw_base64`.
        text: what is looked at, or why the line has none.
        is_object: whether the line is an object, without a column that the scan adds.
    """

    line: bytes
    text: CorpusText
    is_object: bool = True


class JsonlBatch:
    """See `Batch`; `done` is in bytes. Lines are parsed when their texts are asked for.

    Args:
        lines: as they were read; None in place of one that is too long.
        done: see `Batch`.
        parse: gives the records of these lines.
        of_objects: the digests of the batches that are known to hold an object on each line. This
            one is added when it is parsed.
    """

    def __init__(
        self,
        lines: Sequence[bytes | None],
        done: int,
        parse: Callable[[], list[JsonlRecord]],
        of_objects: set[bytes],
    ) -> None:
        self._lines, self._parse, self._of_objects = lines, parse, of_objects
        self.done = done

    @cached_property
    def digest(self) -> bytes:
        return digest_of_lines(self._lines)

    @cached_property
    def records(self) -> list[JsonlRecord]:
        """The lines, parsed. Raises InputFileError, see `JsonlCorpus.batches`."""
        found = self._parse()
        if all(row.is_object for row in found):
            self._of_objects.add(self.digest)
        return found

    @property
    def texts(self) -> list[CorpusText]:
        return [row.text for row in self.records]

    def objects(self) -> Iterator[bytes]:
        if self.digest not in self._of_objects:
            return (row.line for row in self.records)
        # Scored rows are not parsed a second time to be written.
        return (_bare(line) for line in self._lines if line is not None)


class JsonlCorpus:
    """See `Corpus`.

    Args:
        path: of the file.
        column: the key of the text, or several.
        batch_size: rows of a batch.
        limit: read only the first `limit` rows.
        added: the names of the results' columns.
        packed: whether the file is packed by gzip.

    Raises:
        InputFileError: the file cannot be read.
    """

    def __init__(
        self,
        path: Path,
        column: str | Columns,
        batch_size: int,
        limit: int | None = None,
        added: Sequence[str] = COLUMNS,
        *,
        packed: bool = False,
    ) -> None:
        self._path, self._columns, self._added = path, columns_of(column), frozenset(added)
        self._batch_size, self._limit = batch_size, limit
        self._packed = packed
        self._of_objects: set[bytes] = set()
        with open_file(path) as file:
            if limit is None:
                self.total = file.seek(0, 2)
            else:
                deque(islice(self._lines(file), limit), maxlen=0)
                self.total = file.tell()

    def traits(self) -> list[str]:
        return []

    def batches(self) -> Iterator[JsonlBatch]:
        """See `Corpus`.

        Raises:
            InputFileError: the file cannot be read, no row of the first batch has the column, or
                one has a column that results would replace. In a later batch that is a problem.
        """
        before = 0
        with open_file(self._path) as file:
            lines = islice(self._lines(file), self._limit)
            while rows := [*islice(lines, self._batch_size)]:
                parse = partial(self._records, rows, before)
                batch = JsonlBatch(rows, file.tell(), parse, self._of_objects)
                if not before:
                    self._require_column(batch.records)
                before += len(rows)
                yield batch

    def _lines(self, file: BinaryIO) -> Iterator[bytes | None]:
        return _lines(_unpacked(file) if self._packed else file, self._path)

    def _records(self, lines: Sequence[bytes | None], before: int) -> list[JsonlRecord]:
        is_first = before == 0
        return [self._record(*line, is_first) for line in enumerate(lines, before + 1)]

    def _record(self, number: int, line: bytes | None, is_first: bool) -> JsonlRecord:
        """The record of a line, which may be of the first batch."""
        where = f"line {number}"
        if line is None:
            problem = Problem(f"{where}: expected at most {_MOST_BYTES:,} bytes, found more")
            return JsonlRecord(b"{}", problem, is_object=False)
        try:
            found = parse_object(line.decode())
        except UnicodeDecodeError as error:
            problem = Problem(f"{where}: expected UTF-8, found an invalid byte at {error.start}")
            return JsonlRecord(_raw(line), problem, is_object=False)
        except ValueError as error:
            return JsonlRecord(_raw(line), Problem(f"{where}: {error}"), is_object=False)
        if not self._added.isdisjoint(found):
            taken = next(name for name in found if name in self._added)
            why = expected_no_column(taken, self._columns)
            if is_first:
                raise InputFileError(f"{self._path}, {where}: {why}")
            # After hours of work one line is no reason to stop.
            return JsonlRecord(_raw(line), Problem(f"{where}: {why}"), is_object=False)
        return JsonlRecord(_bare(line), self._columns.item(found, where))

    def _require_column(self, rows: Sequence[JsonlRecord]) -> None:
        objects = [json.loads(row.line) for row in rows if row.is_object and row.line != b"{}"]
        for name in self._columns.names:
            if objects and not any(name in found for found in objects):
                raise InputFileError(
                    f"{self._path}: expected a column {name!r}, found "
                    f"{', '.join(map(repr, objects[0]))}; {self._columns.hint}"
                )


class JsonlWriter:
    """See `ResultWriter`.

    Args:
        file: a binary file to write to.
        packed: whether to pack the lines by gzip.
    """

    def __init__(self, file: BinaryIO, *, packed: bool = False) -> None:
        self._file = file
        self._packer = zlib.compressobj(_LEVEL, wbits=_GZIP) if packed else None

    def write(self, batch: Batch, results: Sequence[Any]) -> None:
        for line, result in zip(batch.objects(), results, strict=True):
            data = extended(line, result._asdict()) + b"\n"
            self._file.write(data if self._packer is None else self._packer.compress(data))

    def close(self) -> None:
        """See `ResultWriter`."""
        if self._packer is not None:
            self._file.write(self._packer.flush())

    def abandon(self) -> None:
        """See `ResultWriter`. There is nothing to do."""


def extended(line: bytes, more: dict[str, Any]) -> bytes:
    """A JSON object with `more` at its end.

    >>> extended(b'{"a": 1.50}', {"b": None}), extended(b"{ }", {"b": 2})
    (b'{"a": 1.50, "b": null}', b'{ "b": 2}')
    """
    head = line.rstrip()[:-1]
    comma = b"" if head.strip() == b"{" else b", "
    # A lone surrogate, which a name in an error may have, becomes its JSON escape.
    added = _ENCODE(more).encode(errors="backslashreplace")
    return head + comma + added[1:]


def parse_object(line: str) -> dict[str, Any]:
    """The JSON object on a line. Raises ValueError, which says what was found instead."""
    if not line.strip():
        raise ValueError("expected a JSON object, found an empty line")
    try:
        found = parse_json(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected a JSON object: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise ValueError(
            "expected a JSON object, found a number that is too long, or too many levels"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"expected a JSON object, found {kind_of(found)}")
    return found


def first_names(path: Path, *, packed: bool = False) -> list[str] | None:
    """The names in the first object of a file; None if the file is empty.

    Raises:
        InputFileError: the file cannot be read, or begins with something else.
    """
    with open_file(path) as file:
        line = next(_lines(_unpacked(file) if packed else file, path), b"")
    if line == b"":
        return None
    try:
        return [*parse_object((line or b"").decode())]
    except ValueError as error:
        raise InputFileError(f"{path}, line 1: {error}") from error


def _unpacked(file: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=file))


def _bare(line: bytes) -> bytes:
    """The object on a line, without what stands around it."""
    return line.removeprefix(_BYTE_ORDER_MARK).strip()


def _raw(line: bytes) -> bytes:
    """A JSON object that holds a line which is not an object.

    >>> _raw(b'{"a": \\r\\n'), _raw(b"\\xff"), _raw(b" ")
    (b'{"raw": "{\\\\"a\\\\": "}', b'{"raw_base64": "/w=="}', b'{}')
    """
    line = line.rstrip(b"\r\n")
    try:
        found = {"raw": line.decode()} if line.strip() else {}
    except UnicodeDecodeError:
        found = {"raw_base64": base64.b64encode(line).decode()}
    return json.dumps(found, ensure_ascii=False).encode()


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes | None]:
    """The lines of a file, with None in place of a line that is too long."""
    try:
        while line := file.readline(_MOST_BYTES + 1):
            if len(line) <= _MOST_BYTES:
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(_MOST_BYTES)
            yield None
    except EOFError as error:
        raise InputFileError(
            f"cannot read {path}: expected more packed data, found the end of the file; is it "
            f"still being written, or copied in part?"
        ) from error
    except zlib.error as error:
        raise unreadable(path, OSError(str(error))) from error
    except OSError as error:
        raise unreadable(path, error) from error
