"""What the wheel and the sdist hold, and nothing besides. Built offline with hatchling itself."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

import pytest

pytest.importorskip("hatchling", reason="hatchling is not installed: extra test")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = {Path(p).name for p in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
MODELS = "ticore_embedded/models"
FOLDERS = ("ticore/_serve/static", "ticore/steganography/opener_lists")
TOKENIZERS = {
    "tiny-en": "tokenizer.model",
    "tiny-ja": "tokenizer.model",
    "tiny-zh": "tokenizer.json",
}
MB = 1_000_000
# Each bundled model is 11 or 12 MB of either, packed.
MOST_OF_A_WHEEL, MOST_OF_AN_SDIST, MOST_OF_A_SOURCE = 37 * MB, 39 * MB, MB


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a wheel and an sdist were made."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(folder: Path) -> dict[str, int]:
    """Sizes in bytes, by name."""
    (file,) = folder.glob("*.whl")
    assert file.stat().st_size < MOST_OF_A_WHEEL
    with zipfile.ZipFile(file) as archive:
        return {member.filename: member.file_size for member in archive.infolist()}


@pytest.fixture(scope="module")
def sdist(folder: Path) -> dict[str, int]:
    """Sizes in bytes, by name below the archive's only folder."""
    (file,) = folder.glob("*.tar.gz")
    assert file.stat().st_size < MOST_OF_AN_SDIST
    with tarfile.open(file) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
    (top,) = {PurePosixPath(member.name).parts[0] for member in members}
    return {member.name.removeprefix(f"{top}/"): member.size for member in members}


@pytest.mark.slow
def test_wheel_holds_every_package_with_its_types(wheel: dict[str, int]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    for package in PACKAGES:
        assert {f"{package}/__init__.py", f"{package}/py.typed"} <= wheel.keys()


@pytest.mark.slow
def test_wheel_holds_every_module_of_its_packages(wheel: dict[str, int]) -> None:
    modules = {
        f"{package}/{path.relative_to(home).as_posix()}"
        for package in PACKAGES
        for home in (ROOT / package, ROOT / "backends" / package)
        for path in home.rglob("*.py")
    }
    assert {name for name in wheel if name.endswith(".py")} == modules


@pytest.mark.slow
def test_wheel_holds_the_bundled_models_and_the_licence(wheel: dict[str, int]) -> None:
    for model, tokenizer in TOKENIZERS.items():
        files = ("config.json", "model.safetensors", tokenizer)
        assert {f"{MODELS}/{model}/{file}" for file in files} <= wheel.keys()
        assert wheel[f"{MODELS}/{model}/model.safetensors"] > 10 * MB
    assert [name for name in wheel if name.endswith(".dist-info/licenses/LICENSE")]


def test_wheel_holds_no_other_files(wheel: dict[str, int]) -> None:
    """Modules, markers of types, models, the page, openers, metadata: no tests, no caches."""
    allowed = (".py", "/py.typed")
    others = {name for name in wheel if not name.endswith(allowed) and ".dist-info/" not in name}
    kept = {f"{folder}/{path.name}" for folder in FOLDERS for path in (ROOT / folder).iterdir()}
    assert {name for name in others if not name.startswith(f"{MODELS}/")} == kept
    assert {name for name in wheel if "/train" in name or "test" in name.split("/")[0]} == set()


def test_wheel_says_what_it_is(folder: Path) -> None:
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        facts = HeaderParser().parsestr(archive.read(name).decode())
        (name,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        points = archive.read(name).decode()
    assert (facts["Name"], facts["Version"]) == ("ticore", PROJECT["project"]["version"])
    assert facts["License-Expression"] == "Apache-2.0"
    assert facts["Author"] == "The ticore authors"
    assert facts["Keywords"]
    assert "Typing :: Typed" in facts.get_all("Classifier", [])
    assert "Paper, https://arxiv.org/abs/2508.20718" in facts.get_all("Project-URL", [])
    assert {*PROJECT["project"]["optional-dependencies"]} == {*facts.get_all("Provides-Extra", [])}
    assert "ticore = ticore.__main__:main" in points
    assert "embedded = ticore_embedded:BACKEND" in points


def test_sdist_holds_sources_tests_and_documents(sdist: dict[str, int]) -> None:
    wanted = ("README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "docs/how-it-works.md")
    assert {*wanted, "tests/conftest.py", "training/__main__.py"} <= sdist.keys()
    assert {
        f"backends/{MODELS}/tiny-en/model.safetensors",
        "backends/ticore_torch/py.typed",
    } <= sdist.keys()


def test_sdist_holds_no_data_and_no_caches(sdist: dict[str, int]) -> None:
    parts = {part for name in sdist for part in PurePosixPath(name).parts}
    caches = {part for part in parts if part.endswith(("_cache", ".pyc")) or part.startswith(".h")}
    assert caches == set()
    assert not parts & {"__pycache__", "shared", "results", "dist", ".git"}
    large = {name for name, size in sdist.items() if size > MOST_OF_A_SOURCE}
    assert large == {f"backends/{MODELS}/{model}/model.safetensors" for model in TOKENIZERS}
