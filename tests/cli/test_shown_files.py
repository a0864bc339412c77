"""Pages and figures replace earlier ones, and never a file of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticore._cli.shown_files import write_shown
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
