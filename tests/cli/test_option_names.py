"""What errors call things, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import ticore as package
from ticore._cli.commands import Commands, app_with
from ticore._cli.option_names import OPTION_NAMES, with_option_names

from .conftest import PROMPT, Ticore

KEY = ("--key-file", "key.txt")
UNIGRAM = (*KEY, "--scheme", "unigram")
# What a command or an option needs so that a wrong number is what it refuses.
BESIDE_COMMAND = {
    "agree": ("--prompt", PROMPT),
    "embed": (*KEY, "--prompt", PROMPT),
    "extract": (*KEY, "--prompt", PROMPT),
    "watermark": (*KEY, "--prompt", PROMPT),
    "detect": (*KEY, "--column", "text", "texts.jsonl"),
    "detect-server": ("--config", "list.json"),
    "check-key": (*KEY, "--column", "text", "texts.jsonl"),
    "drift": ("texts.jsonl",),
}
BESIDE_OPTION = {
    "--edits": ("--window", "4"),
    "--context": ("--scheme", "gumbel"),
    "--payload-bits": ("--scheme", "gumbel_payload"),
    "--alpha": ("--scheme", "dipmark"),
    "--max-attempts": ("--rollback", "exact", "--scheme", "left_hash"),
}
HIDDEN = ("tokens",)  # the old name of --max-new-tokens


@pytest.fixture(scope="module")
def library() -> str:
    """The source of all that is no command, with the texts of errors on one line."""
    folder = Path(package.__file__).parent
    files = [file for file in folder.rglob("*.py") if "_cli" not in file.parts]
    found = " ".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r'"\s+f?"', "", found)


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_some_error_has_the_name(name: str, library: str) -> None:
    assert name in library


@pytest.mark.parametrize(
    ("option", "said"), [("--fpr", "expected a number"), ("--context", "expected a whole number")]
)
def test_what_is_no_number_is_refused_in_the_same_words(
    ticore: Ticore, option: str, said: str
) -> None:
    found = ticore("detect", "--scheme", "gumbel", option, "5%", "text")
    assert said in found.err or "is not a valid" in found.err  # of an older parser
    assert found.status == 2


def test_each_name_is_replaced() -> None:
    said = "; ".join(OPTION_NAMES)
    assert with_option_names(said) == "; ".join(OPTION_NAMES.values())
    assert with_option_names("expected another text") == "expected another text"


@pytest.fixture
def _files() -> None:
    """The files that the command lines name."""
    Path("texts.jsonl").write_text('{"text": "A cold morning."}\n')
    Path("t").write_text("A cold morning.")
    Path("list.json").write_text('[{"key_file": "key.txt"}]')
    key = Path("key.txt")
    key.touch(mode=0o600)
    key.write_text("ab" * 32)


def numeric_options(command: str) -> Iterator[str]:
    """The options of a command that take a number."""
    for registered in app_with(command).registered_commands:
        for name, hint in get_type_hints(registered.callback).items():
            if {int, float} & {hint, *get_args(hint)} and name not in HIDDEN:
                yield "--" + name.replace("_", "-")


@pytest.mark.slow
@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", Commands())
def test_a_number_that_is_refused_is_that_of_an_option(ticore: Ticore, command: str) -> None:
    for option in numeric_options(command):
        beside = (*BESIDE_COMMAND.get(command, ()), *BESIDE_OPTION.get(option, ()))
        refused = ticore(command, *beside, option, "-7", stdin=b"a text")
        refused.assert_error(2, f"ticore: {option}: expected")
        assert not re.search(r"[a-z]_[a-z]|\bNone\b", refused.err), refused.err


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("agree", "--prompt", PROMPT, "--edits", "0.05"), "--window: expected one beside --edits"),
        (("agree", "--prompt", PROMPT, "--top-k", "-3"), "at least 1, or 0 for all tokens, found"),
        (("agree-watermark", "--scheme", "gumbel", "--gamma", "0.3"), "has --context, --scheme-"),
        (("agree-watermark", "--scheme", "gumbel", "--gamma", "0.3"), "found --gamma; it has"),
        (
            ("check-key", *UNIGRAM, "--context", "3", "t"),
            "it has --gamma, --greens, --scheme-version:",
        ),
        (
            ("check-key", *KEY, "--scheme", "unigram", "--context", "3", "t"),
            "it has --gamma, --greens, --scheme-version:",
        ),
        (
            ("detect", "--scheme", "vllm", "--config", "c", "--gamma", "1"),
            "--gamma: these are sett",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_named_as_options(
    ticore: Ticore, arguments: tuple[str, ...], said: str
) -> None:
    ticore(*arguments).assert_error(2, said)


def test_a_setting_in_a_file_keeps_its_name() -> None:
    assert with_option_names("gamma: too large", {"gamma": None}) == "gamma: too large"
    assert with_option_names("gamma: too large", {"gamma": 2.0}) == "--gamma: too large"
