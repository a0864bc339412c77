"""Files, folders and patterns become sources, each with an output of its own."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from ticore._cli.scan_sources import paired
from ticore._cli.usage import UsageError
from ticore.errors import InputFileError

ADDED = ("verdict", "p_value", "strength")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = ("in/a.detected.jsonl", "in/a.drift.jsonl")
    for name in (
        "in/a.jsonl",
        *outputs,
        "in/deep/a.jsonl",
        "in/b.parquet",
        "in/c.md",
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def pairs(*given: str, output: str | None = None) -> list[tuple[str, str]]:
    found = paired([*map(Path, given)], output, ADDED)
    return [(each.source.as_posix(), each.output.as_posix()) for each in found]


def test_folder_means_its_files_without_outputs_of_earlier_scans() -> None:
    assert pairs("in") == [
        ("in/a.jsonl", "in/a.detected.jsonl"),
        ("in/b.parquet", "in/b.detected.parquet"),
        ("in/deep/a.jsonl", "in/deep/a.detected.jsonl"),
    ]


def test_packed_files_have_packed_outputs() -> None:
    for name in ("c.jsonl.gz", "c.detected.jsonl.gz", "c.drift.jsonl.GZ", "d.JSONL.GZ", "e.gz"):
        Path("in", name).touch()
    assert pairs("in")[2:4] == [
        ("in/c.jsonl.gz", "in/c.detected.jsonl.gz"),
        ("in/d.JSONL.GZ", "in/d.detected.JSONL.GZ"),
    ]
    assert pairs("in/*.gz")[0] == ("in/c.jsonl.gz", "in/c.detected.jsonl.gz")


def test_folder_means_also_what_its_links_lead_to() -> None:
    Path("other").mkdir()
    Path("other/d.jsonl").touch()
    Path("in/b_link").symlink_to("../other")
    Path("in/deep/loop").symlink_to("..")
    Path("in/gone.jsonl").symlink_to("nothing")
    assert [source for source, _ in pairs("in")] == [
        "in/a.jsonl",
        "in/b.parquet",
        "in/b_link/d.jsonl",
        "in/deep/a.jsonl",
        "in/gone.jsonl",
    ]


def test_a_file_is_named_by_its_own_folder_and_not_by_a_link_in_another() -> None:
    Path("in/a_first").mkdir()
    Path("in/a_first/link").symlink_to("../deep")
    assert [source for source, _ in pairs("in")] == [
        "in/a.jsonl",
        "in/b.parquet",
        "in/deep/a.jsonl",
    ]


def test_folder_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if os.path.basename(path) == "deep":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputFileError, match=r"cannot read in.deep: Permission denied"):
        pairs("in")


def test_pattern_means_what_matches() -> None:
    assert pairs("in/*.jsonl") == [("in/a.jsonl", "in/a.detected.jsonl")]
    assert [source for source, _ in pairs("in/**/a.jsonl")] == ["in/a.jsonl", "in/deep/a.jsonl"]


def test_a_link_does_not_take_the_place_of_its_file() -> None:
    Path("in/_link.jsonl").symlink_to("a.jsonl")
    assert pairs("in/*.jsonl") == [("in/a.jsonl", "in/a.detected.jsonl")]
    assert pairs("in/_link.jsonl") == [("in/_link.jsonl", "in/_link.detected.jsonl")]


def test_a_file_that_is_meant_twice_is_scanned_once() -> None:
    given = [Path("in/a.jsonl"), Path("in"), Path("in/../in/b.parquet"), Path("in/*.parquet")]
    expected = ["in/a.jsonl", "in/b.parquet", "in/deep/a.jsonl"]
    assert [each.source.as_posix() for each in paired(given, None, ADDED)] == expected
    assert [each.source.as_posix() for each in paired(given, Path("out"), ADDED)] == expected


def test_output_with_a_slash_at_its_end_is_a_folder() -> None:
    found = paired([Path("in/a.jsonl"), Path("in/b.parquet")], "results-1.0/", ADDED)
    assert [each.output.as_posix() for each in found] == [
        "results-1.0/a.jsonl",
        "results-1.0/b.parquet",
    ]


def test_outputs_in_a_folder_keep_the_shape_of_the_source() -> None:
    assert [output for _, output in pairs("in", output="out")] == [
        "out/a.jsonl",
        "out/b.parquet",
        "out/deep/a.jsonl",
    ]
    assert Path("out/deep").is_dir()


@pytest.mark.parametrize("given", ["in", "in/**/b.*"])
def test_outputs_below_their_sources_are_not_sources_of_the_same_command_again(given: str) -> None:
    first = pairs(given, output="in/out")
    for _, output in first:
        written(output, *ADDED)
    assert pairs(given, output="in/out") == first


def test_output_file_beside_its_source_is_not_a_source_of_the_same_command_again() -> None:
    Path("one").mkdir()
    Path("one/a.jsonl").touch()
    first = pairs("one", output="one/out.jsonl")
    Path("one/out.jsonl").touch()
    assert pairs("one", output="one/out.jsonl") == first == [("one/a.jsonl", "one/out.jsonl")]


def written(path: str, *names: str) -> None:
    """A file with one row of these columns."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    row = dict.fromkeys(names, "x")
    if path.endswith(".parquet"):
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
        pq.write_table(pa.table({name: [value] for name, value in row.items()}), path)
    elif path.endswith(".gz"):
        Path(path).write_bytes(gzip.compress(json.dumps(row).encode()))
    else:
        Path(path).write_text(json.dumps(row))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_what_a_scan_has_written_among_its_sources_is_told_by_its_columns(ending: str) -> None:
    written(f"rows/a{ending}", "text")
    written(f"rows/out/a{ending}", "text", "verdict", "p_value")
    assert pairs("rows", output="rows/out") == [(f"rows/a{ending}", f"rows/out/a{ending}")]
    written(f"rows/out/a{ending}", "text", "verdict")
    with pytest.raises(UsageError, match=r"expected outputs that take the place of no source"):
        pairs("rows", output="rows/out")


@pytest.mark.parametrize(
    "rows", [b"", b"not JSON", b'["verdict", "p_value"]', b"\xff", b'\n{"verdict": 1}']
)
def test_an_output_takes_the_place_of_no_source_but_an_empty_one(rows: bytes) -> None:
    written("one/a.jsonl", "text")
    Path("one/b.jsonl").write_bytes(rows)
    if not rows:
        assert pairs("one", output="one/b.jsonl") == [("one/a.jsonl", "one/b.jsonl")]
    else:
        with pytest.raises(UsageError, match=r"found one.b\.jsonl, which the output of one.a"):
            pairs("one", output="one/b.jsonl")


def test_an_output_takes_the_place_of_no_source_that_was_named() -> None:
    written("x/rows.jsonl", "text")
    written("y/rows.jsonl", "text", "verdict", "p_value")
    for given in (
        ("x/rows.jsonl", "y/rows.jsonl"),
        ("x", "y/rows.jsonl"),
        ("x", "y", "y/rows.jsonl"),
        ("y/rows.jsonl", "x", "y"),
    ):
        for output in ("y/rows.jsonl", "y/"):
            with pytest.raises(
                UsageError, match="expected outputs that take the place of no source"
            ):
                pairs(*given, output=output)
    assert pairs("x", "y", output="y/") == [("x/rows.jsonl", "y/rows.jsonl")]
    written("x/rows.detected.jsonl", "text")
    with pytest.raises(UsageError, match=r"found x.rows\.detected\.jsonl, which the output of x.r"):
        pairs("x/rows.jsonl", "x/rows.detected.jsonl")


def test_what_is_ambiguous_or_empty_is_refused() -> None:
    with pytest.raises(UsageError, match="give one FILE with --output"):
        pairs("in", output="out.jsonl")
    with pytest.raises(UsageError, match=r"different names, found a\.jsonl twice"):
        pairs("in/**/a.jsonl", output="out")
    with pytest.raises(InputFileError, match=r"expected files that end in \.jsonl"):
        pairs("in/*.txt")
    with pytest.raises(UsageError, match=r"--output: expected the name of .*, found an empty one"):
        paired([Path("in/a.jsonl")], "", ADDED)
    Path("rows").touch()
    for taken in ("rows", "rows/", os.devnull):
        with pytest.raises(UsageError, match=r"expected a folder, or a file that ends in \.jsonl"):
            pairs("in/a.jsonl", output=taken)


def test_names_that_cannot_be_looked_at_are_left_to_what_opens_them() -> None:
    long = "long" * 100
    assert pairs(f"{long}.jsonl") == [(f"{long}.jsonl", f"{long}.detected.jsonl")]
    assert pairs("in/a.jsonl", output=f"{long}.jsonl") == [("in/a.jsonl", f"{long}.jsonl")]
    twice = paired([Path(f"{long}.jsonl")] * 2, None, ADDED)
    assert len(twice) == 1
    with pytest.raises(InputFileError, match=rf"{long}\*: expected files that end in"):
        pairs(f"{long}*")
