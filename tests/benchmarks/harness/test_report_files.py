"""What a benchmark prints and writes."""

import io
import json
import sys
from argparse import Namespace

import pytest

from benchmarks._harness.report import INTERRUPTED, new_report, publish
from benchmarks._harness.tables import flattened, markdown_table, text_table, write_parquet
from ticore.errors import MissingExtraError

ROWS = [
    {"index": 0, "times": {"seconds": 1.5, "parts": {}}, "examples": [], "failure": None},
    {"index": 1, "times": {"seconds": 2.5, "model": 1.0}, "examples": [], "failure": "no room"},
]


def publish_to(folder, report, tables=(), plot=None):
    files = {name: folder / "new" / name for name in ("json", "parquet", "markdown", "plot")}
    options = Namespace(**files)
    return publish(options, report, ROWS, tables, plot), files


def test_publish_prints_tables_that_have_rows_and_writes_the_files(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="writing Parquet files needs pyarrow")
    full, empty = text_table("A title that is long", ["name"], ["x"]), text_table("Empty", [], [])
    full.add_row("one", "1")
    full.caption = "An explanation."
    report = new_report({"seed": 1}, complete=True) | {"rows": [1]}
    status, files = publish_to(tmp_path, report, [empty, full], lambda r, f: f.write_text("drawn"))
    assert status == 0
    shown = capsys.readouterr().out
    assert shown.startswith("A title that is long\n")
    assert "An explanation." in shown
    assert "Empty" not in shown
    assert json.loads(files["json"].read_text()) == json.loads(json.dumps(report))
    assert files["markdown"].read_text().startswith("A title that is long\n\n| name | x |\n")
    assert files["plot"].read_text() == "drawn"
    assert files["parquet"].stat().st_size > 0


def test_publish_says_that_a_run_was_interrupted(tmp_path):
    pytest.importorskip("pyarrow", reason="writing Parquet files needs pyarrow")
    assert publish_to(tmp_path, new_report({}, complete=False))[0] == INTERRUPTED


def test_write_parquet_gives_a_column_to_each_field(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="writing Parquet files needs pyarrow")
    write_parquet(tmp_path / "a.parquet", ROWS, {"settings": {"seed": 1}})
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.to_pydict() == {
        "index": [0, 1],
        "times.seconds": [1.5, 2.5],
        "examples": [[], []],
        "failure": [None, "no room"],
        "times.model": [None, 1.0],
    }
    assert json.loads(table.schema.metadata[b"ticore"]) == {"settings": {"seed": 1}}


@pytest.mark.slow
def test_write_parquet_leaves_an_earlier_file_as_it_was_when_it_fails(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet", reason="writing Parquet files needs pyarrow")
    write_parquet(tmp_path / "a.parquet", ROWS, {})
    before = (tmp_path / "a.parquet").read_bytes()

    def fail(table, place, **settings):
        """As where the disk is full."""
        if isinstance(place, io.BytesIO):
            place.write(b"half")
        else:
            place.write_bytes(b"half")
        raise OSError("no space left on device")

    monkeypatch.setattr(parquet, "write_table", fail)
    with pytest.raises(OSError, match="no space"):
        write_parquet(tmp_path / "a.parquet", ROWS[:1], {})
    assert (tmp_path / "a.parquet").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def test_write_parquet_says_how_to_install_pyarrow_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="data"):
        write_parquet(tmp_path / "a.parquet", ROWS, {})


def test_markdown_table_shows_each_cell_as_it_is():
    rows = [["a|b", "\\xe2\n"], ["<s>", "_2*3_"], ["`[x]`", "-"]]
    assert markdown_table(["kind", "value"], [False, True], rows).splitlines() == [
        "| kind | value |",
        "| --- | ---: |",
        "| a\\|b | \\\\xe2\\\\n |",
        "| \\<s\\> | \\_2\\*3\\_ |",
        "| \\`\\[x\\]\\` | - |",
    ]


def test_flattened_leaves_nothing_nested():
    assert flattened({"a": {"b": {"c": 1}}, "d": [{"e": 2}]}) == {"a.b.c": 1, "d": [{"e": 2}]}
