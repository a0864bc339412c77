"""A hint says where this installation came from, and never names a project of an index."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, SimplePath
from pathlib import Path

import pytest

from ticore._support import installing
from ticore._support.installing import how_to_install, missing_extra, require_module
from ticore.errors import MissingExtraError

ROOT = Path(__file__).parents[2]


class Installed(Distribution):
    """A distribution that was installed from where `record` says."""

    def __init__(self, record: object, *requires: str) -> None:
        self._record, self._requires = record, requires

    def read_text(self, filename: str) -> str | None:
        if filename == "direct_url.json":
            return self._record if isinstance(self._record, str) else json.dumps(self._record)
        lines = ["Name: ticore", "Version: 1", *(f"Requires-Dist: {r}" for r in self._requires)]
        return "\n".join(lines) + "\n" if filename == "METADATA" else None

    def locate_file(self, path: object) -> SimplePath:
        return Path(str(path))  # type: ignore[return-value]


def test_require_module_imports_it() -> None:
    assert require_module("os.path", "data", "a path") is sys.modules["os.path"]


def test_require_module_says_which_package_is_missing_and_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_a_package.py").write_text("import a_package_of_no_one")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError) as raised:
        require_module("needs_a_package", "data", "a Parquet file")
    assert str(raised.value) == str(missing_extra("a_package_of_no_one", "data", "a Parquet file"))
    assert str(raised.value) == (
        "a Parquet file needs the package 'a_package_of_no_one', which is not installed; "
        + how_to_install("data")
    )


def test_how_to_install_names_the_checkout(tmp_path: Path) -> None:
    folder = tmp_path / "my {code}"
    folder.mkdir()
    for editable, flag in ((True, "-e "), (False, "")):
        record = {"url": folder.as_uri(), "dir_info": {"editable": editable}}
        said = how_to_install("torch", Installed(record))
        assert said == f"run: pip install {flag}'{folder}[torch]'"


def test_how_to_install_names_the_address(tmp_path: Path) -> None:
    git = {"url": "https://example.org/t.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}
    assert how_to_install("data", Installed(git)) == (
        "run: pip install 'ticore[data] @ git+https://example.org/t.git'"
    )
    file = tmp_path / "ticore-1.whl"
    file.touch()
    wheel = {"url": file.as_uri(), "archive_info": {}}
    assert how_to_install("data", Installed(wheel)) == (
        f"run: pip install 'ticore[data] @ {file.as_uri()}'"
    )


@pytest.mark.parametrize(
    "record",
    ["", {"url": "file:///none.whl", "archive_info": {}}, {"url": "file:///none", "dir_info": {}}],
)
def test_the_packages_of_an_extra_are_named_when_its_source_is_unknown(record: object) -> None:
    requires = (
        "numpy>=2",
        'torch>=2.11; extra == "torch"',
        "transformers>=5.5 ; python_version > '3.8' and extra == 'torch'",
        'ray>=2; extra == "scale"',
    )
    installed = Installed(record, *requires)
    assert how_to_install("torch", installed) == (
        "run: pip install 'torch>=2.11' 'transformers>=5.5'"
    )
    assert how_to_install("scale,torch", installed).endswith("'transformers>=5.5' 'ray>=2'")


def test_every_extra_that_a_backend_asks_for_is_made_of_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installing, "_source", lambda *_: None)
    for extra in ("data", "jax", "plots", "scale", "tiktoken", "tokenizers", "torch"):
        said = how_to_install(extra)
        assert re.fullmatch(r"run: pip install( '[a-z]+>=[\d.]+')+", said)


def _nowhere(name: str) -> Iterable[Distribution]:
    raise PackageNotFoundError(name)


@pytest.mark.parametrize(
    "record",
    ["", "[]", "null", "{}", "no JSON", {"url": 3}, {"url": "file:///none", "dir_info": {}}],
)
def test_how_to_install_gives_no_command_when_the_origin_is_unknown(
    record: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = how_to_install("torch", Installed(record))
    assert said.endswith("in a checkout: pip install -e '.[torch]'")
    monkeypatch.setattr(Distribution, "from_name", _nowhere)
    assert "pip install -e '.[torch]'" in how_to_install("torch")


def test_no_text_names_a_project_of_the_package_index() -> None:
    """The name `ticore` on the index is not ours: what is there may be anyone's."""
    sources = [*ROOT.glob("ticore/**/*.py"), *ROOT.glob("b*/**/*.py")]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    naming = re.compile(r"(?:pip3?|uv|pipx) (?:tool )?(?:install|add|run) (?:-\S+ )*['\"]?ticore\b")
    found = [str(path) for path in (*sources, *pages) if naming.search(path.read_text())]
    assert found == []
    assert naming.search("pip install 'ticore[torch]'")


@pytest.mark.slow
def test_python_m_ticore_runs_the_command() -> None:
    command = [sys.executable, "-m", "ticore", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ticore \S+\n", done.stdout)
