"""The commands as a whole: help, version, statuses."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from .conftest import Ticore, shell

COMMANDS = [
    *("demo", "agree", "embed", "extract", "keygen"),
    *("agree-watermark", "watermark", "detect", "detect-server", "calibrate", "check-key"),
    *("inspect", "audit"),
    *("models", "fingerprint"),
    "serve",
]


def test_help_is_on_stderr_without_a_command(ticore: Ticore) -> None:
    found = ticore()
    assert (found.status, found.out) == (2, b"")
    assert found.err == ticore("--help").out.decode()


@pytest.mark.parametrize("columns", [40, 80, 100, 300])
@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)])
def test_help_fits_the_width_of_the_terminal(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, command: list[str], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = ticore(*command, "-h")
    assert (found.status, found.err) == (0, "")
    assert found == ticore(*command, "--help")
    text = found.out.decode()
    assert text.startswith("Usage: ticore")
    if columns >= 80:
        assert max(map(len, text.splitlines())) < min(columns, 120)
        assert "..." not in re.sub(r"[\[{](ARGS|FILE|TEXT)[\]}]\.\.\.", "", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_no_python_type(ticore: Ticore, command: str) -> None:
    assert "<" not in ticore(command, "-h").out.decode()


def test_help_lists_every_command(ticore: Ticore) -> None:
    text = ticore("-h").out.decode()
    for command in COMMANDS:
        assert f"\n  {command} " in text


def test_help_groups_commands_under_titles_when_it_is_plain_text(ticore: Ticore) -> None:
    lines = ticore("-h").out.decode().splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Messages:", "Watermarks:", "Tokens:", "Models:", "In a browser:", "Options:"]
    assert lines.index("Tokens:") < lines.index(next(n for n in lines if "  inspect " in n))


def test_help_groups_options_under_titles_and_those_without_one_come_last(ticore: Ticore) -> None:
    lines = ticore("inspect", "-h").out.decode().splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Arguments:", "Input:", "Tokenizer:", "Output:", "Options:"]


def test_help_is_as_wide_as_the_terminal(ticore: Ticore, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = ticore("inspect", "-h").out.decode()
    monkeypatch.setenv("COLUMNS", "110")
    wide = ticore("inspect", "-h").out.decode()
    assert wide.split() == narrow.split()
    assert max(map(len, narrow.splitlines())) < 80 < max(map(len, wide.splitlines())) < 110


def test_version_option_prints_the_version(ticore: Ticore) -> None:
    assert ticore("--version").out.decode() == f"ticore {version('ticore')}\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="completes for bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ticore de", {"demo", "detect", "detect-server"}),
        ("ticore detect --sch", {"--scheme", "--scheme-version"}),
    ],
)
def test_completion_offers_names_with_the_same_beginning(
    monkeypatch: pytest.MonkeyPatch, words: str, expected: set[str]
) -> None:
    monkeypatch.setenv("_TICORE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    found = shell("ticore")
    assert (found.status, found.err) == (0, "")
    assert {*found.out.decode().split()} == expected


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="completes for bash")
def test_completion_is_installed_for_the_current_shell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shown = shell("ticore --show-completion").out.decode()
    assert "complete -o default -F _ticore_completion ticore" in shown
    assert shell("ticore --install-completion").status == 0
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert script.read_text().strip() == shown.strip()
    assert str(script) in (tmp_path / ".bashrc").read_text()


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
def test_run_ends_with_status_2_on_wrong_usage(
    ticore: Ticore, arguments: list[str], part: str
) -> None:
    ticore(*arguments).assert_error(2, part)


@pytest.mark.parametrize(
    "arguments",
    [
        ["embed", ""],
        ["embed", "--parts", ""],
        ["embed", "--key-file", ""],
        ["extract", ""],
        ["keygen", "-o", ""],
        ["inspect", "text", "--html", ""],
        ["check-key", ""],
        ["calibrate", "--config", "list.json", ""],
        ["calibrate", "--config", "list.json", "texts", "--plot", ""],
        ["calibrate", "--config", "list.json", "texts", "--marked", ""],
        ["detect-server", "--config", ""],
        ["models", "add", "smollm2", "--from", ""],
    ],
)
def test_empty_name_of_a_file_is_not_the_current_folder(
    ticore: Ticore, arguments: list[str]
) -> None:
    """A shell makes it of a variable that is not set."""
    found = ticore(*arguments)
    found.assert_error(2, "expected the name of a file, found an empty one")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["detect", "--scheme", ""], "unknown scheme ''"),
        (["detect", "--repeats", ""], "repeats: expected one of"),
        (["detect", "--tokenizer", ""], "no model is called ''"),
        (["watermark", "--scheme", ""], "unknown scheme ''"),
        (["watermark", "--model", ""], "no model is called ''"),
        (["agree-watermark", "--scheme", ""], "unknown scheme ''"),
    ],
)
def test_empty_name_is_not_that_of_the_default(
    ticore: Ticore, arguments: list[str], said: str
) -> None:
    assert ticore("keygen", "-o", "key").status == 0
    key = [] if arguments[0] == "agree-watermark" else ["--key-file", "key"]
    found = ticore(*arguments, *key, stdin=b"It was a cold morning")
    assert said in found.err
    assert (found.status > 0, found.out) == (True, b"")


@pytest.mark.slow
def test_error_advises_on_the_locale_when_it_lacks_characters() -> None:
    """Python reads them as lone surrogates, and an error about those would confuse."""
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
def test_run_ends_with_status_1_when_a_file_cannot_be_read(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    Path("file").write_text("neither a key nor a pact")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    found = ticore(command, option, "file", stdin=b"It was a cold morning")
    assert found.status == 1
    assert "not readable" not in found.err
    assert "file: expected" in found.err


@pytest.mark.slow
def test_shell_completes_commands() -> None:
    asked = "_TICORE_COMPLETE=complete_bash COMP_WORDS='ticore wat' COMP_CWORD=1 ticore"
    assert shell(asked).out == b"watermark\n"
