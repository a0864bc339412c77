"""Pages and figures replace earlier ones, and never a file of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticore._cli.shown_files import require_place, write_shown
from ticore.errors import OutputFileError

PAGE = b"<!DOCTYPE html><p>new"


@pytest.mark.parametrize("before", [None, b"", b"<!DOCTYPE html><p>old"])
def test_a_new_file_and_an_earlier_page_are_written(before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    if before is not None:
        path.write_bytes(before)
    write_shown(path, PAGE)
    assert path.read_bytes() == PAGE


@pytest.mark.parametrize("before", [b"ticore-key-1 ab", b"{}", b"One day", b"\x89PNG\r\n\x1a\n\0"])
def test_a_file_of_another_kind_stays(before: bytes, tmp_path: Path) -> None:
    path = tmp_path / "key.txt"
    path.write_bytes(before)
    with pytest.raises(OutputFileError, match="found another file"):
        write_shown(path, PAGE)
    assert path.read_bytes() == before


@pytest.mark.parametrize("before", [None, b"", b"<!DOCTYPE html><p>old"])
def test_a_place_that_can_be_written_is_left_as_it_is(before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    if before is not None:
        path.write_bytes(before)
    require_place(path)
    assert list(tmp_path.iterdir()) == ([] if before is None else [path])
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("name", ["missing/page.html", "folder", "key.txt", "figure.svg"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "key.txt").write_bytes(b"ticore-key-1 ab")
    (tmp_path / "figure.svg").write_bytes(PAGE)
    with pytest.raises(OutputFileError):
        require_place(tmp_path / name)
