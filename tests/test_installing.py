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

from ticore.installing import how_to_install

ROOT = Path(__file__).parents[1]


class Installed(Distribution):
    """A distribution that was installed from where `record` says."""

    def __init__(self, record: object) -> None:
        self._record = record

    def read_text(self, filename: str) -> str | None:
        if filename == "direct_url.json":
            return self._record if isinstance(self._record, str) else json.dumps(self._record)
        return "Name: ticore\nVersion: 1\n" if filename == "METADATA" else None

    def locate_file(self, path: object) -> SimplePath:
        return Path(str(path))  # type: ignore[return-value]


def test_a_checkout_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "my {code}"
    folder.mkdir()
    for editable, flag in ((True, "-e "), (False, "")):
        record = {"url": folder.as_uri(), "dir_info": {"editable": editable}}
        said = how_to_install("torch", Installed(record))
        assert said == f"run: pip install {flag}'{folder}[torch]'"


def test_an_address_is_named() -> None:
    git = {"url": "https://example.org/t.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}
    assert how_to_install("data", Installed(git)) == (
        "run: pip install 'ticore[data] @ git+https://example.org/t.git'"
    )
    wheel = {"url": "file:///tmp/ticore-1.whl", "archive_info": {}}
    assert how_to_install("data", Installed(wheel)) == (
        "run: pip install 'ticore[data] @ file:///tmp/ticore-1.whl'"
    )


def _nowhere(name: str) -> Iterable[Distribution]:
    raise PackageNotFoundError(name)


@pytest.mark.parametrize(
    "record",
    ["", "[]", "null", "{}", "no JSON", {"url": 3}, {"url": "file:///none", "dir_info": {}}],
)
def test_where_nothing_is_known_nothing_is_claimed(
    record: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = how_to_install("torch", Installed(record))
    assert said.endswith("in a checkout: pip install -e '.[torch]'")
    monkeypatch.setattr(Distribution, "from_name", _nowhere)
    assert "pip install -e '.[torch]'" in how_to_install("torch")


def test_no_text_names_a_project_of_the_index() -> None:
    """The name `ticore` on the index is not ours: what is there may be anyone's."""
    sources = [*ROOT.glob("ticore/**/*.py"), *ROOT.glob("b*/**/*.py")]
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    naming = re.compile(r"(?:pip3?|uv|pipx) (?:tool )?(?:install|add|run) (?:-\S+ )*['\"]?ticore\b")
    found = [str(path) for path in (*sources, *pages) if naming.search(path.read_text())]
    assert found == []
    assert naming.search("pip install 'ticore[torch]'")


def test_the_package_runs_as_the_command_does() -> None:
    command = [sys.executable, "-m", "ticore", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ticore \S+\n", done.stdout)
