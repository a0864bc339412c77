"""Every kind of Arrow column that a Parquet file can have becomes JSON, and can be scanned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.corpus import EXECUTORS, Result, Scan, Task, scan
from ticore.corpus._arrow_values import json_values
from ticore.corpus._base import CorpusText
from ticore.errors import FileError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FAR = 1 << 62
NO_UTF8 = pa.StringArray.from_buffers(2, *pa.array([b"a", b"b\xff"]).buffers()[1:])
BERLIN = "Europe/Berlin"


def _struct(*columns: Any, names: Sequence[str] = ("x", "y")) -> Any:
    return pa.StructArray.from_arrays(columns, names[: len(columns)])


# name of the column -> its values, and the same values in JSON
KINDS: dict[str, tuple[Any, list[object]]] = {
    "null": (pa.nulls(2), [None, None]),
    "truth": (pa.array([True, None]), [True, None]),
    "int8": (pa.array([-1, None], pa.int8()), [-1, None]),
    "uint64": (pa.array([(1 << 64) - 1, 0], pa.uint64()), [(1 << 64) - 1, 0]),
    "float16": (pa.array([1.5, None], pa.float32()).cast(pa.float16()), [1.5, None]),
    "float32": (pa.array([1.5, float("nan")], pa.float32()), [1.5, None]),
    "float64": (pa.array([0.1, float("-inf")]), [0.1, None]),
    "decimal": (pa.array([Decimal("1.50"), None], pa.decimal128(38, 2)), ["1.50", None]),
    "large decimal": (pa.array([Decimal("1.50"), None], pa.decimal256(76, 2)), ["1.50", None]),
    "string": (pa.array(["é", None]), ["é", None]),
    "large string": (pa.array(["é", None], pa.large_string()), ["é", None]),
    "no UTF-8": (NO_UTF8, ["a", "b\ufffd"]),
    "binary": (pa.array([b"\xff", None]), ["/w==", None]),
    "large binary": (pa.array([b"\xff", None], pa.large_binary()), ["/w==", None]),
    "fixed binary": (pa.array([b"ab", None], pa.binary(2)), ["YWI=", None]),
    "date": (pa.array([0, None], pa.int32()).cast(pa.date32()), ["1970-01-01", None]),
    "date64": (pa.array([864 * 10**5, None], pa.date64()), ["1970-01-02", None]),
    "far dates": (
        pa.array([(1 << 31) - 1, -(1 << 31)], pa.int32()).cast(pa.date32()),
        ["5881580-07-11", "-5877641-06-23"],
    ),
    "time ms": (pa.array([1, None], pa.time32("ms")), ["00:00:00.001000", None]),
    "time us": (pa.array([1, None], pa.time64("us")), ["00:00:00.000001", None]),
    "time ns": (pa.array([1, 1000], pa.time64("ns")), ["00:00:00.000000001", "00:00:00.000001"]),
    "moment s": (pa.array([1, None], pa.timestamp("s")), ["1970-01-01T00:00:01", None]),
    "moment us": (pa.array([1, None], pa.timestamp("us")), ["1970-01-01T00:00:00.000001", None]),
    "moment ns": (
        pa.array([1, -1], pa.timestamp("ns")),
        ["1970-01-01T00:00:00.000000001", "1969-12-31T23:59:59.999999999"],
    ),
    "moment ns without any": (
        pa.array([1000, None], pa.timestamp("ns")),
        ["1970-01-01T00:00:00.000001", None],
    ),
    "moment of a zone": (
        pa.array([1, None], pa.timestamp("us", BERLIN)),
        ["1970-01-01T01:00:00.000001+01:00", None],
    ),
    "moment ns of a zone": (
        pa.array([1, None], pa.timestamp("ns", BERLIN)),
        ["1970-01-01T01:00:00.000000001+01:00", None],
    ),
    "moment of an unknown zone": (
        pa.array([1, None], pa.timestamp("us", "Mars/Base")),
        ["1970-01-01T00:00:00.000001+00:00", None],
    ),
    "moment ns of an unknown zone": (
        pa.array([1, None], pa.timestamp("ns", "+25:17")),
        ["1970-01-01T00:00:00.000000001+00:00", None],
    ),
    "far moments": (
        pa.array([FAR, -FAR], pa.timestamp("us")),
        ["148108-07-06T14:00:27.387904", "-144169-06-28T09:59:32.612096"],
    ),
    "least moment": (pa.array([-(1 << 63)], pa.timestamp("us")), [f"{-(1 << 63)} us"]),
    "duration": (pa.array([1, None], pa.duration("us")), ["0:00:00.000001", None]),
    "duration ns": (
        pa.array([1, -1], pa.duration("ns")),
        ["0:00:00.000000001", "-1 day, 23:59:59.999999999"],
    ),
    "far duration": (pa.array([FAR, None], pa.duration("ms")), [f"{FAR} ms", None]),
    "categories": (pa.array(["x", None]).dictionary_encode(), ["x", None]),
    "list": (pa.array([[1, None], None]), [[1, None], None]),
    "large list": (pa.array([[1], None], pa.large_list(pa.int64())), [[1], None]),
    "fixed list": (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), [[1, 2], None]),
    "list of ns": (
        pa.array([[1], []], pa.list_(pa.timestamp("ns"))),
        [["1970-01-01T00:00:00.000000001"], []],
    ),
    "list of no UTF-8": (pa.ListArray.from_arrays([0, 1, 2], NO_UTF8), [["a"], ["b\ufffd"]]),
    "struct": (pa.array([{"x": b"\xff"}, None]), [{"x": "/w=="}, None]),
    "struct of ns": (
        _struct(pa.array([1], pa.timestamp("ns")), pa.array([[1]], pa.list_(pa.duration("ns")))),
        [{"x": "1970-01-01T00:00:00.000000001", "y": ["0:00:00.000000001"]}],
    ),
    "struct of no UTF-8": (_struct(NO_UTF8), [{"x": "a"}, {"x": "b\ufffd"}]),
    "struct of equal names": (
        _struct(pa.array([1]), pa.array([2]), names=("x", "x")),
        [[["x", 1], ["x", 2]]],
    ),
    "map": (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())), [[["a", 1]], None]),
    "map of no UTF-8": (
        pa.MapArray.from_arrays([0, 1, 2], pa.array(["k", "l"]), NO_UTF8),
        [[["k", "a"]], [["l", "b\ufffd"]]],
    ),
}


# pyarrow before version 26 cannot read a null between lists of a fixed size from Parquet.
IN_PARQUET = {
    name: kind
    for name, kind in KINDS.items()
    if name != "fixed list" or int(pa.__version__.partition(".")[0]) >= 26
}


def table() -> Any:
    """Two rows with a column of every Arrow type."""
    columns = {"text": pa.array(["It was a cold morning.", "a"])}
    for name, (column, _) in IN_PARQUET.items():
        columns[name] = column if len(column) == 2 else pa.concat_arrays([column, column])
    return pa.table(columns)


@pytest.mark.parametrize("name", KINDS)
def test_json_values_gives_json_for_every_arrow_type(name: str) -> None:
    column, expected = KINDS[name]
    found = json.loads(json.dumps(list(json_values(name, column))))
    assert found == expected


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from(["s", "ms", "us", "ns"]))
def test_json_values_gives_different_texts_for_different_times(value: int, unit: str) -> None:
    """Whatever number stands there, it becomes words, and others become other words."""
    for kind in (pa.timestamp(unit), pa.timestamp(unit, BERLIN), pa.duration(unit)):
        near = [value, value + 1 if value < 0 else value - 1]
        one, other = json_values("a", pa.array(near, pa.int64()).cast(kind))
        assert isinstance(one, str)
        assert one != other


def test_json_values_keeps_the_nanoseconds_of_pandas_durations() -> None:
    class Timedelta(timedelta):
        nanoseconds = 7

        def __str__(self) -> str:
            return "as pandas writes it"

    class Column:
        type = "duration"

        def to_pylist(self) -> list[object]:
            return [Timedelta(seconds=1)]

    assert list(json_values("a", Column())) == ["0:00:01.000000007"]


def test_json_values_names_the_column_that_cannot_become_json() -> None:
    class Column:
        type = "nix"

        def to_pylist(self) -> list[object]:
            raise ValueError

        def __iter__(self) -> Iterator[Any]:
            raise OverflowError("too much\nof it")

    with pytest.raises(FileError, match=r"column 'when': .* found nix: too much; write a Parquet"):
        list(json_values("when", Column()))


TASK = Task("tiny-en", "left_hash", bytes(32))


def _stopping(
    task: Task,
    batches: Iterable[Sequence[CorpusText]],
    _: int | None,
    tell: Callable[[str], None],
) -> Iterator[list[Result]]:
    for _batch, results in zip(
        range(1), EXECUTORS["processes"](task, batches, 1, tell), strict=False
    ):
        yield results
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_scan_keeps_every_arrow_type_in_either_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """To either format, also where the scan was interrupted; and from JSON back to Parquet."""
    pq.write_table(table(), tmp_path / "in.parquet")
    wanted = Scan(tmp_path / "in.parquet", "text", tmp_path / f"out.{ending}", batch_size=1)
    scan(wanted, TASK, workers=1)
    if ending == "parquet":
        found, given = pq.read_table(wanted.output), pq.read_table(wanted.source)
        assert found.select(table().column_names).schema == given.schema
        for name in given.column_names:
            columns = (of[name].combine_chunks() for of in (found, given))
            assert len({str(list(json_values(name, column))) for column in columns}) == 1
    else:
        first, second = map(json.loads, wanted.output.read_text().splitlines())
        for name, (_, expected) in IN_PARQUET.items():
            assert [first[name], second[name]] == (expected * 2)[:2]
        back = replace(wanted, source=wanted.output.with_suffix(".rows.jsonl"))
        rows = [{key: row[key] for key in table().column_names} for row in (first, second)]
        back.source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        back = replace(back, output=tmp_path / "back.parquet")
        scan(back, TASK, workers=1)
        assert set(table().column_names) < set(pq.read_table(back.output).column_names)
    again = replace(wanted, output=tmp_path / f"again.{ending}")
    monkeypatch.setitem(EXECUTORS, "stopping", _stopping)
    with pytest.raises(KeyboardInterrupt):
        scan(again, TASK, executor="stopping")
    said: list[str] = []
    scan(again, TASK, workers=1, tell=said.append)
    assert said == ["going on: 1 batch was scanned before"]
    assert again.output.read_bytes() == wanted.output.read_bytes()


def test_scan_refuses_columns_of_equal_names_before_it_scores(tmp_path: Path) -> None:
    columns = [pa.array(["a"]), pa.array([1]), pa.array([2])]
    pq.write_table(pa.Table.from_arrays(columns, ["text", "n", "n"]), tmp_path / "in.parquet")
    given = Scan(tmp_path / "in.parquet", "text", tmp_path / "out.jsonl")
    with pytest.raises(FileError, match=r"different names, .* found 'n' more than once"):
        scan(given, TASK, workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    scan(replace(given, output=tmp_path / "out.parquet"), TASK, workers=1)
    assert pq.read_schema(tmp_path / "out.parquet").names[:3] == ["text", "n", "n"]
