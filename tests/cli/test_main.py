"""The commands as a whole: help, version, statuses."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from .conftest import Ticore, shell

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


def test_characters_that_the_locale_does_not_have() -> None:
    """Python gives them to a program as lone surrogates, which help nobody to see what is wrong."""
    found = shell("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 ticore agree --prompt 'Zoë'")
    found.assert_error(2, "set LC_ALL=C.UTF-8, or PYTHONUTF8=1")
    assert "in this locale arguments are read as ascii" in found.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("extract", "--agreement"),
        ("extract", "--key-file"),
        ("watermark", "--key-file"),
        ("detect", "--key-file"),
        ("inspect", "--ids"),
        ("fingerprint", "--compare"),
    ],
)
def test_files_that_cannot_be_read_are_no_wrong_usage(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    Path("file").write_text("neither a key nor a pact")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    found = ticore(command, option, "file", stdin=b"It was a cold morning")
    assert found.status == 1
    assert "not readable" not in found.err
    assert "file: expected" in found.err


def test_the_shell_completes_commands() -> None:
    asked = "_TICORE_COMPLETE=complete_bash COMP_WORDS='ticore wat' COMP_CWORD=1 ticore"
    assert shell(asked).out == b"watermark\n"
