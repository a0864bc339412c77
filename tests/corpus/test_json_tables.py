"""Every JSON value can be written to a Parquet file and read back from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.corpus._json_tables import JsonTables
from ticore.corpus._jsonl import JsonlCorpus

pytest.importorskip("pyarrow.parquet")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


def table_of(path: Path, rows: list[dict[str, Any]]) -> Any:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus = JsonlCorpus(path, "text", 100)
    tables = JsonTables(corpus)
    (table,) = (tables.table(batch) for batch in corpus.batches())
    assert table.schema == tables.schema
    return table


@pytest.mark.slow
@given(
    rows=st.lists(st.fixed_dictionaries({"text": st.text()}, optional={"a": VALUES}), min_size=1)
)
def test_json_tables_keep_every_value(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    table = table_of(tmp_path_factory.getbasetemp() / "rows.jsonl", rows)
    values = [row.get("a") for row in rows]
    found = table["a"].to_pylist() if "a" in table.column_names else [None] * len(rows)
    if found != values:
        assert str(table.schema.field("a").type) == "string"
        assert [None if value is None else json.loads(value) for value in found] == values


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, None], "bool"),
        ([1, None, -(1 << 63)], "int64"),
        ([1, 1.5], "double"),
        ([1.5, 1 << 60], "string"),
        ([1 << 64], "string"),
        (["é"], "string"),
        (["a\ud800"], "string"),
        ([1, "a"], "string"),
        ([[1]], "string"),
        ([None], "null"),
    ],
)
def test_json_tables_choose_the_type_that_holds_all_values_of_a_column(
    tmp_path: Path, values: list[Any], kind: str
) -> None:
    table = table_of(tmp_path / "a.jsonl", [{"text": "", "a": value} for value in values])
    assert str(table.schema.field("a").type) == kind


def test_json_tables_have_a_row_for_a_line_without_an_object(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n\n")
    corpus = JsonlCorpus(tmp_path / "a.jsonl", "text", 100)
    (batch,) = corpus.batches()
    table = JsonTables(corpus).table(batch)
    assert (table.num_rows, table.column_names) == (2, [])
