"""Parquet files keep columns, types and metadata, with any type of text column."""

from __future__ import annotations

import gc
import json
from datetime import date
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ticore.corpus import COLUMNS, Result
from ticore.corpus import _parquet as parquet
from ticore.corpus._base import Problem
from ticore.corpus._parquet import ParquetCorpus, ParquetTables, ParquetWriter
from ticore.errors import FileError, MissingExtraError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def corpus(
    tmp_path: Path, table: Any, batch_size: int = 100, limit: int | None = None
) -> ParquetCorpus:
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    return ParquetCorpus(tmp_path / "a.parquet", "text", batch_size, limit)


def texts(found: ParquetCorpus) -> list[object]:
    return [
        text.error if isinstance(text, Problem) else text
        for batch in found.batches()
        for text in batch.texts
    ]


def written(found: ParquetCorpus) -> Any:
    file = BytesIO()
    writer = ParquetWriter(file, ParquetTables(found))
    for batch in found.batches():
        writer.write(batch, [Result(tokens=n) for n, _ in enumerate(batch.texts)])
    writer.close()
    return pq.read_table(BytesIO(file.getvalue()))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_corpus_reads_every_type_of_text_column(tmp_path: Path, kind: Any) -> None:
    table = pa.table({"text": pa.array(["é", None, "", "é"]).cast(kind)})
    assert texts(corpus(tmp_path, table)) == ["é", "row 2: expected text, found null", "", "é"]


def test_corpus_says_which_row_is_not_utf8(tmp_path: Path) -> None:
    data = pa.array([b"a", b"b\xff"])
    error = "row 2: expected UTF-8 text, found an invalid byte at 1"
    assert texts(corpus(tmp_path, pa.table({"text": data}))) == ["a", error]
    invalid = pa.StringArray.from_buffers(2, *data.buffers()[1:])
    found = corpus(tmp_path, pa.table({"text": invalid}))
    assert texts(found) == ["a", error]
    objects = [json.loads(line) for batch in found.batches() for line in batch.objects()]
    assert objects == [{"text": "a"}, {"text": "b\ufffd"}]


def test_corpus_gives_all_rows_in_batches_up_to_the_limit(tmp_path: Path) -> None:
    table = pa.table({"text": [str(n) for n in range(8)]})
    found = corpus(tmp_path, table, batch_size=5)
    batches = list(found.batches())
    assert [text for batch in batches for text in batch.texts] == [str(n) for n in range(8)]
    assert max(len(batch.texts) for batch in batches) <= 5
    assert batches[-1].done == found.total == 8
    assert texts(corpus(tmp_path, table, 3, limit=4)) == ["0", "1", "2", "3"]
    assert texts(corpus(tmp_path, table.slice(0, 0))) == []


def test_rows_that_are_not_written_are_read_without_their_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"blob": [b"x", b"y"], "text": ["a", "b"], "error": [1, 2]}), path)
    (batch,) = ParquetCorpus(path, "text", 10, added=()).batches()
    assert (batch.rows.schema.names, batch.texts) == (["text"], ["a", "b"])


def test_corpus_does_not_hold_a_row_group_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["a"] * 1000, "blob": [bytes(range(250)) * 80] * 1000})
    pages = {"write_batch_size": 10, "data_page_size": 1 << 16}
    pq.write_table(table, path, compression="none", use_dictionary=False, **pages)
    before, most = pa.total_allocated_bytes(), 0
    for _ in ParquetCorpus(path, "text", 10).batches():
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < path.stat().st_size / 4


def test_writer_keeps_columns_types_and_metadata(tmp_path: Path) -> None:
    table = pa.table(
        {"text": ["a", None], "n": pa.array([1, None], pa.int8()), "deep": [[{"x": 1.5}], []]}
    ).replace_schema_metadata({"about": "this"})
    result = written(corpus(tmp_path, table, batch_size=1))
    assert result.select(table.column_names).equals(table)
    assert result.schema.metadata[b"about"] == b"this"
    assert result.column_names == [*table.column_names, *COLUMNS]
    kinds = {str(field.type) for field in result.schema if field.name in COLUMNS}
    assert kinds == {"string", "double", "int64"}
    assert result["tokens"].to_pylist() == [0, 0]


def test_writer_joins_dictionaries_that_differ_between_batches(tmp_path: Path) -> None:
    texts = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode()] * 2)
    table = pa.table({"text": texts, "n": pa.array(["x", "y", "x", "z"]).dictionary_encode()})
    result = written(corpus(tmp_path, table, batch_size=1))
    assert result["text"].to_pylist() == ["a", "b", "a", "b"]
    assert result["n"].to_pylist() == ["x", "y", "x", "z"]


def test_writer_writes_a_file_without_rows(tmp_path: Path) -> None:
    result = written(corpus(tmp_path, pa.table({"text": pa.array([], pa.string())})))
    assert (result.num_rows, result.column_names) == (0, ["text", *COLUMNS])


def test_writer_collects_batches_in_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 4)
    file = BytesIO()
    found = corpus(tmp_path, pa.table({"text": [str(n) for n in range(10)]}), batch_size=2)
    writer = ParquetWriter(file, ParquetTables(found))
    for batch in found.batches():
        writer.write(batch, [Result()] * len(batch.texts))
    writer.close()
    read = pq.ParquetFile(BytesIO(file.getvalue()))
    assert read.metadata.num_row_groups < 4
    assert read.read()["text"].to_pylist() == [str(n) for n in range(10)]


def test_writer_counts_a_dictionary_once_where_batches_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else rows with a long dictionary fill a group after a few batches, and each group has it."""
    long = [f"{n} " * 1000 for n in range(50)]
    column = pa.array([long[n % 50] for n in range(1000)]).dictionary_encode()
    found = corpus(tmp_path, pa.table({"text": column, "n": range(1000)}), batch_size=100)
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 1_000_000)
    file = BytesIO()
    writer = ParquetWriter(file, ParquetTables(found))
    for batch in found.batches():
        writer.write(batch, [Result()] * len(batch.texts))
    writer.close()
    result = pq.ParquetFile(BytesIO(file.getvalue()))
    assert result.metadata.num_row_groups == 1
    assert result.read()["text"].to_pylist() == column.to_pylist()


def test_writer_looks_at_each_waiting_table_once(tmp_path: Path) -> None:
    """Else the time to write grows with the square of the number of batches."""
    asked: list[int] = []

    class Table:
        num_rows = 1
        columns: tuple[object, ...] = ()

        @property
        def nbytes(self) -> int:
            asked.append(1)
            return 1

        def append_column(self, *_: object) -> Table:
            return self

    class Tables:
        schema = pa.schema([])

        def table(self, _: object) -> Table:
            return Table()

    (batch,) = corpus(tmp_path, pa.table({"text": ["a"]})).batches()
    writer = ParquetWriter(BytesIO(), Tables())
    for _ in range(20):
        writer.write(batch, [Result()])
    assert len(asked) == 20
    writer.abandon()


@pytest.mark.slow
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_writer_abandons_without_an_error_when_its_file_is_full(tmp_path: Path) -> None:
    """Also where its file was full."""

    class Full(BytesIO):
        full = False

        def write(self, data: Any) -> int:
            if self.full:
                raise OSError(28, "No space left on device")
            return super().write(data)

    file, found = Full(), corpus(tmp_path, pa.table({"text": ["a"]}))
    writer = ParquetWriter(file, ParquetTables(found))
    for batch in found.batches():
        writer.write(batch, [Result()])
    file.full = True
    with pytest.raises(OSError, match="No space"):
        writer.close()
    writer.abandon()
    file.close()
    del writer
    gc.collect()


def test_batch_gives_rows_as_json_objects(tmp_path: Path) -> None:
    row = {"text": "é", "day": date(2020, 2, 1), "sum": Decimal("1.50"), "raw": b"\xff"}
    row |= {"list": [1.5, float("nan")], "deep": {"x": None}, "yes": True}
    found = corpus(tmp_path, pa.Table.from_pylist([row]))
    (line,) = (line for batch in found.batches() for line in batch.objects())
    expected = {"text": "é", "day": "2020-02-01", "sum": "1.50", "raw": "/w=="}
    assert json.loads(line) == expected | {"list": [1.5, None], "deep": {"x": None}, "yes": True}


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        ({"a": ["x"], "b": [1]}, "expected one column 'text', found 'a', 'b'"),
        ({"text": [1]}, "expected text in column 'text', found int64"),
        ({"text": ["a"], "verdict": ["b"]}, "expected no column 'verdict'"),
    ],
)
def test_corpus_refuses_columns_that_do_not_fit(
    tmp_path: Path, columns: dict[str, Any], part: str
) -> None:
    with pytest.raises(FileError, match=part):
        corpus(tmp_path, pa.table(columns))


@pytest.mark.parametrize("data", [b"", b"PAR1", b"hello" * 100])
def test_corpus_refuses_a_file_that_is_not_parquet(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(FileError, match=r"a\.parquet: expected a Parquet file: "):
        ParquetCorpus(tmp_path / "a.parquet", "text", 10)


def test_corpus_refuses_a_damaged_file(tmp_path: Path) -> None:
    table = pa.table({"text": [str(n) * 50 for n in range(1000)]})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[100:900] = bytes(800)
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(FileError, match=r"a\.parquet"):
        texts(ParquetCorpus(tmp_path / "a.parquet", "text", 10))


def test_corpus_refuses_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(FileError, match=r"cannot read|expected a Parquet file"):
            ParquetCorpus(path, "text", 10)


def test_corpus_names_the_extra_when_pyarrow_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"extra 'data'|\[data\]'"):
        ParquetCorpus(tmp_path / "a.parquet", "text", 10)
