"""Parts of the same scan are found again, those of another are not; other files stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticore.corpus import Result
from ticore.corpus.parts import Parts
from ticore.errors import FileError


def opened(tmp_path: Path, digest: str = "a") -> tuple[Parts, list[str]]:
    said: list[str] = []
    return Parts(tmp_path / "out.jsonl", digest, said.append), said


def test_parts_are_found_again(tmp_path: Path) -> None:
    parts, said = opened(tmp_path)
    results = [Result(p_value=0.1 + 0.2, tokens=3, error="é"), Result()]
    parts.put(7, results)
    assert said == []
    again, said = opened(tmp_path)
    assert said == ["going on: 1 batch was scanned before"]
    assert 7 in again
    assert 6 not in again
    assert again.get(7) == results
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_parts_of_another_scan_are_dropped(tmp_path: Path) -> None:
    opened(tmp_path)[0].put(1, [Result()])
    parts, said = opened(tmp_path, "b")
    assert said == ["the input or a setting is another than before: starting anew"]
    assert 1 not in parts


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "broken"])
def test_a_damaged_manifest(tmp_path: Path, manifest: str) -> None:
    parts, _ = opened(tmp_path)
    parts.put(1, [Result()])
    (parts.folder / "manifest.json").write_text(manifest)
    assert 1 not in opened(tmp_path)[0]


@pytest.mark.parametrize("content", ["", "broken", "[[1,2]]x", "3", "[3]"])
def test_a_damaged_part(tmp_path: Path, content: str) -> None:
    parts, _ = opened(tmp_path)
    (parts.folder / "000001.json").write_text(content)
    with pytest.raises(FileError, match=r"000001\.json"):
        parts.get(1)


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    parts, _ = opened(tmp_path)
    (parts.folder / ".ticore-0123456789abcdef.tmp").touch()
    parts.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_another_purpose_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "out.jsonl.parts"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(FileError, match="found something else"):
        opened(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl.parts").touch()
    with pytest.raises(FileError, match=r"cannot use .*out\.jsonl\.parts"):
        opened(tmp_path)
    with pytest.raises(FileError, match="cannot use"):
        opened(tmp_path / "missing")
