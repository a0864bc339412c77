"""The commands as a whole: help, version, statuses."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from .conftest import Ticore

COMMANDS = [
    *("demo", "agree", "embed", "extract", "keygen"),
    *("watermark", "detect", "check-key"),
    *("models", "inspect", "audit"),
]


def test_without_a_command_help_is_on_stderr(ticore: Ticore) -> None:
    found = ticore()
    assert (found.status, found.out) == (2, b"")
    assert found.err == ticore("--help").out.decode()


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)])
def test_help(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = ticore(*command, "-h")
    assert (found.status, found.err) == (0, "")
    assert found == ticore(*command, "--help")
    text = found.out.decode()
    assert text.startswith("Usage: ticore")
    if columns == 80:
        assert max(map(len, text.splitlines())) < columns
        assert "..." not in text.replace("[ARGS]...", "").replace("[FILE]...", "")


def test_help_lists_every_command(ticore: Ticore) -> None:
    text = ticore("-h").out.decode()
    for command in COMMANDS:
        assert f"\n  {command} " in text


def test_version(ticore: Ticore) -> None:
    assert ticore("--version").out.decode() == f"ticore {version('ticore')}\n"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nix"], "No such command 'nix'"),
        (["--nix"], "--nix; see: ticore --help"),
        (["a\udcff\n"], r"a\udcff\n"),
        (["demo", "nix"], "see: ticore demo --help"),
        (["embed", "--finish", "nix", "--password"], "--finish"),
        (["demo", "--json", "--json=3"], "--json"),
    ],
)
def test_wrong_usage(ticore: Ticore, arguments: list[str], part: str) -> None:
    ticore(*arguments).assert_error(2, part)
