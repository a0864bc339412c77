"""Parquet files, read and written with pyarrow, which is imported when it is needed.

Columns keep their types, and the file keeps its metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, get_type_hints

from .._support.installing import require_module
from ..errors import FileError, InputFileError, OutputFileError
from ._arrow_values import json_values
from ._base import Batch, CorpusText, Problem
from ._batch_digests import digest_of_texts
from ._columns import Columns, TextColumn, columns_of, expected_no_column
from ._results import COLUMNS, Result

# A row group is written when it has that many rows or bytes. Small groups are slow to read.
_GROUP_ROWS, _GROUP_BYTES = 100_000, 64 << 20
_BUFFER = 1 << 20  # read at a time of each column; else all of a row group is in memory


def arrow() -> Any:
    """The package pyarrow. Raises MissingExtraError."""
    require_module("pyarrow.parquet", "data", "a Parquet file")
    return require_module("pyarrow", "data", "a Parquet file")


@dataclass(frozen=True)
class ParquetBatch:
    """See `Batch`; `done` is in rows.

    Attributes:
        rows: a RecordBatch with the columns that are read.
    """

    rows: Any
    texts: Sequence[CorpusText]
    done: int

    @property
    def digest(self) -> bytes:
        return digest_of_texts(self.texts)

    def objects(self) -> Iterator[bytes]:
        names = self.rows.schema.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise OutputFileError(
                f"expected columns with different names, since a JSON object has each name once, "
                f"found {twice!r} more than once; rename one, or write a Parquet file"
            )
        columns = [json_values(*each) for each in zip(names, self.rows.columns, strict=True)]
        for _ in range(self.rows.num_rows):
            row = {name: next(column) for name, column in zip(names, columns, strict=True)}
            yield json.dumps(row, ensure_ascii=False).encode()


class ParquetCorpus:
    """See `Corpus`.

    Args:
        path: of the file.
        column: the one with the texts, or several.
        batch_size: rows of a batch.
        limit: read only the first `limit` rows.
        added: the names of the results' columns. If there are none, the rows will not be written,
            and only `column` is read.

    Attributes:
        schema: of the file.

    Raises:
        InputFileError: the file cannot be read, is not a Parquet file, does not have one such
            column of text, or has a column that results would replace.
        MissingExtraError: pyarrow is not installed.
    """

    def __init__(
        self,
        path: Path,
        column: str | Columns,
        batch_size: int,
        limit: int | None = None,
        added: Sequence[str] = COLUMNS,
    ) -> None:
        self._path, self._columns, self._added = path, columns_of(column), added
        self._batch_size, self._limit = batch_size, limit
        self._pa = arrow()
        with _opened(path) as file:
            self.schema = file.schema_arrow
            rows: int = file.metadata.num_rows
        self.total = rows if limit is None else min(rows, limit)
        self._require_columns()

    def traits(self) -> list[str]:
        return [f"pyarrow {self._pa.__version__}"]

    def batches(self) -> Iterator[ParquetBatch]:
        done = 0
        columns = None if self._added else [*self._columns.names]
        with _opened(self._path) as file:
            for rows in file.iter_batches(self._batch_size, columns=columns, use_threads=False):
                rows = rows.slice(0, self.total - done)  # noqa: PLW2901  # not beyond the limit
                if not rows.num_rows:
                    return
                texts = self._items(rows, done)
                done += rows.num_rows
                yield ParquetBatch(rows, texts, done)

    def _require_columns(self) -> None:
        names = self.schema.names
        for name in self._columns.names:
            if names.count(name) != 1:
                raise InputFileError(
                    f"{self._path}: expected one column {name!r}, found "
                    f"{', '.join(map(repr, names))}; {self._columns.hint}"
                )
            kind = self.schema.field(name).type
            expected = self._expected(name, kind)
            if expected:
                raise InputFileError(
                    f"{self._path}: expected {expected} in column {name!r}, found {kind}; "
                    f"{self._columns.hint}"
                )
        if taken := [name for name in self._added if name in names]:
            raise InputFileError(f"{self._path}: {expected_no_column(taken[0], self._columns)}")

    def _expected(self, name: str, kind: Any) -> str:
        """What a column should hold, if it holds something else."""
        if isinstance(self._columns, TextColumn):
            return "" if self._is_text(kind) else "text"
        if name in self._columns.of_json:
            return (
                ""
                if self._has_lists(kind) or self._is_text(kind)
                else "lists of objects, or text in JSON"
            )
        if self._is_list(kind) or self._pa.types.is_null(kind):
            return ""
        if name == self._columns.ids:
            return "lists of integers"
        return "" if self._is_text(kind) else "lists of integers, or text"

    def _is_list(self, kind: Any) -> bool:
        return self._has_lists(kind) and bool(self._pa.types.is_integer(kind.value_type))

    def _has_lists(self, kind: Any) -> bool:
        types = self._pa.types
        return bool(
            types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        )

    def _is_text(self, kind: Any) -> bool:
        types = self._pa.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        return bool(
            types.is_string(kind)
            or types.is_large_string(kind)
            or types.is_string_view(kind)
            or types.is_binary(kind)
            or types.is_large_binary(kind)
            or types.is_null(kind)
        )

    def _items(self, rows: Any, before: int) -> Sequence[CorpusText]:
        names = self._columns.names
        if isinstance(self._columns, TextColumn):
            return self._texts(rows.column(names[0]), before)
        columns = [
            self._objects(name, rows.column(name), before)
            if name in self._columns.of_json
            else self._values(rows.column(name), before)
            for name in names
        ]
        return [
            self._columns.item(dict(zip(names, values, strict=True)), f"row {number}")
            for number, values in enumerate(zip(*columns, strict=True), before + 1)
        ]

    def _objects(self, name: str, column: Any, before: int) -> list[Any]:
        """What JSON has for the values; texts may be JSON themselves."""
        if not self._is_text(column.type):
            return [*map(_without_nulls, json_values(name, column))]
        texts = zip(self._texts(column, before), column.is_valid().to_pylist(), strict=True)
        return [text if there else None for text, there in texts]

    def _values(self, column: Any, before: int) -> list[Any]:
        """Texts, or lists of integers as arrays; a list that holds null stays a Python list."""
        if self._pa.types.is_null(column.type):
            return [None] * len(column)
        if not self._is_list(column.type):
            return self._texts(column, before)
        if self._pa.types.is_fixed_size_list(column.type):  # it has no offsets
            column = column.cast(self._pa.large_list(column.type.value_type))
        if column.values.null_count:
            return list(column.to_pylist())
        edges, numbers = column.offsets.to_pylist(), column.values.to_numpy()
        valid = column.is_valid().to_pylist()
        places = zip(edges, edges[1:], valid, strict=False)
        return [numbers[start:end] if there else None for start, end, there in places]

    def _texts(self, column: Any, before: int) -> list[CorpusText]:
        if self._pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        # Decoded one by one, since a file can hold invalid UTF-8 in a column of text.
        if not self._pa.types.is_null(column.type):
            column = column.cast(self._pa.large_binary())
        return [_text(data, number) for number, data in enumerate(column.to_pylist(), before + 1)]


def column_names(path: Path) -> list[str]:
    """The columns of a file. Raises InputFileError, MissingExtraError."""
    with _opened(path) as file:
        found: list[str] = file.schema_arrow.names
    return found


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The open file. Raises InputFileError also where reading from it fails."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            yield file
    # UnicodeDecodeError: the name of a column is not UTF-8.
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileError):
            raise
        if isinstance(error, OSError) and error.strerror:
            raise InputFileError(f"cannot read {path}: {error.strerror}") from error
        why = (str(error).splitlines() or ["damaged"])[0]
        raise InputFileError(f"{path}: expected a Parquet file: {why}") from error


class Tables(Protocol):
    """How batches become Arrow tables.

    Attributes:
        schema: of every table.
    """

    schema: Any

    def table(self, batch: Batch) -> Any: ...


class ParquetTables:
    """See `Tables`. Batches of a Parquet file are Arrow tables already."""

    def __init__(self, corpus: ParquetCorpus) -> None:
        self.schema = corpus.schema

    def table(self, batch: Batch) -> Any:
        assert isinstance(batch, ParquetBatch)
        return arrow().Table.from_batches([batch.rows])


class ParquetWriter:
    """See `ResultWriter`.

    Args:
        file: a binary file to write to.
        tables: turns the batches into Arrow tables.
        result: the NamedTuple of the columns that are added.
    """

    def __init__(self, file: Any, tables: Tables, result: type[Any] = Result) -> None:
        self._pa, self._tables = arrow(), tables
        self._fields = self._result_fields(get_type_hints(result))
        schema = tables.schema
        for field in self._fields:
            schema = schema.append(field)
        with self._refusals():
            self._writer = self._pa.parquet.ParquetWriter(file, schema)
        self._waiting: list[Any] = []
        self._dictionaries: dict[int, Any] = {}  # of the tables that wait, by column
        # Of those that wait. To sum them at each write would take time with the square of batches.
        self._rows = self._bytes = 0

    def write(self, batch: Batch, results: Sequence[Any]) -> None:
        table = self._tables.table(batch)
        for at, field in enumerate(self._fields):
            cells = [_written(result[at]) for result in results]
            values = self._pa.array(cells, type=field.type)
            table = table.append_column(field, values)
        table = self._sharing(table)
        self._waiting.append(table)
        self._rows += table.num_rows
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        self._writer.close()

    def abandon(self) -> None:
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False  # Else it would try to close again when it is collected.

    def _sharing(self, table: Any) -> Any:
        """A table of one batch, with the dictionaries of the batch before where they are equal.

        A reader gives each batch a dictionary of its own. Kept, it would take as much memory each
        time, and be written as often.
        """
        self._bytes += table.nbytes
        for at, column in enumerate(table.columns):
            if not (self._pa.types.is_dictionary(column.type) and column.num_chunks == 1):
                continue
            chunk, kept = column.chunk(0), self._dictionaries.get(at)
            if kept is None or not kept.equals(chunk.dictionary):
                self._dictionaries[at] = chunk.dictionary
                continue
            self._bytes -= chunk.dictionary.nbytes
            shared = self._pa.DictionaryArray.from_arrays(
                chunk.indices, kept, ordered=column.type.ordered
            )
            table = table.set_column(at, table.schema.field(at), shared)
        return table

    def _write_group(self) -> None:
        if not self._waiting:
            return
        with self._refusals():
            self._writer.write_table(self._pa.concat_tables(self._waiting))
        self._waiting, self._dictionaries = [], {}
        self._rows = self._bytes = 0

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except self._pa.ArrowException as error:
            why = (str(error).splitlines() or ["no reason given"])[0]
            raise OutputFileError(f"cannot write these columns to a Parquet file: {why}") from error

    def _result_fields(self, types: Mapping[str, Any]) -> list[Any]:
        pa = self._pa
        kinds = {float | None: pa.float64(), str | None: pa.string(), bool | None: pa.bool_()}
        return [pa.field(name, kinds.get(kind, pa.int64())) for name, kind in types.items()]


def _written(cell: object) -> object:
    """A result as a column can hold it: text with its lone surrogates escaped.

    >>> _written("a\\ud800"), _written(1)
    ('a\\\\ud800', 1)
    """
    if not isinstance(cell, str) or cell.isascii():
        return cell
    return cell.encode(errors="backslashreplace").decode()


def _without_nulls(value: object) -> object:
    """A value without the fields that are null: a struct has the fields of all rows.

    `content` stays, since a message that only calls tools has none.
    """
    if isinstance(value, dict):
        return {
            key: _without_nulls(inner)
            for key, inner in value.items()
            if inner is not None or key == "content"
        }
    return [*map(_without_nulls, value)] if isinstance(value, list) else value


def _text(data: bytes | None, number: int) -> CorpusText:
    if data is None:
        return Problem(f"row {number}: expected text, found null")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return Problem(f"row {number}: expected UTF-8 text, found an invalid byte at {error.start}")
