"""Settings given on the command line: their defaults, and what is refused."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from ticore.cli.settings import Settings
from ticore.steganography import Pact, Steganographer

from .conftest import Ticore


def test_only_what_was_given_is_given() -> None:
    assert Settings().given() == {}
    assert Settings(prompt="", top_k=0).given() == {"prompt": "", "top_k": None}
    assert Settings().place == "tiny-en"
    assert Settings(model="").place == ""


def test_every_setting_of_the_library_is_an_option() -> None:
    library = set(inspect.signature(Steganographer).parameters)
    elsewhere = {"key", "password", "finish", "entropy"}  # secrets, and what only a writer needs
    fixed = {"grid_bits", "weight_bits"}  # bits that a person has no reason to change
    opening = {"dtype", "device"}  # how a model is opened is the backend's matter
    assert {f.name for f in fields(Settings)} == library - elsewhere - fixed | opening


def test_without_options_the_library_decides(ticore: Ticore) -> None:
    found = Pact.loads(ticore("agree").out.decode(), "stdout").agreement.to_dict()
    expected = Steganographer(Settings().open_model()).agreement.to_dict()
    assert found == expected


@pytest.mark.parametrize("command", ["embed", "extract", "agree"])
def test_help_tells_each_default(ticore: Ticore, command: str) -> None:
    text = " ".join(ticore(command, "--help").out.decode().split())
    parameters = inspect.signature(Steganographer).parameters
    stated = {
        "model": "tiny-en",
        "prompt": "empty",
        "dtype": "the backend's",
        "device": "the best",
    }
    for field in fields(Settings):
        option = "--" + field.name.replace("_", "-")
        own = text.partition(f" {option} ")[2].partition("[default: ")[2].partition("]")[0]
        assert own == (stated.get(field.name) or str(parameters[field.name].default))


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--codec", "nix"], 2, "unknown codec 'nix': choose one of"),
        (["--mode", "nix"], 2, "mode: expected one of"),
        (["--view", "nix"], 2, "view: expected one of whole, continuation"),
        (["--disambiguation", "a\udcff"], 2, r"unknown disambiguation 'a\udcff'"),
        (["--top-k", "-1"], 2, "top_k"),
        (["--top-k", "1.5"], 2, "--top-k"),
        (["--top-p", "0"], 2, "top_p"),
        (["--top-p", "1.01"], 2, "top_p"),
        (["--top-p", "nan"], 2, "top_p"),
        (["--temperature", "0"], 2, "temperature"),
        (["--temperature", "inf"], 2, "temperature"),
        (["--temperature", "warm"], 2, "--temperature"),
        (["--prompt", "a\udcff"], 2, "lone surrogate"),
        (["--view", "continuation", "--prompt", "\ud800"], 2, "lone surrogate"),
        (["--prompt", "word " * 3000], 1, "shorten it"),
        (["--model", ""], 1, "no embedded model is called ''"),
        (["--model", "nix"], 1, "no embedded model is called 'nix'"),
        (["--model", "nix:folder"], 1, "no backend for models is called 'nix'"),
        (["--model", "embedded:missing"], 1, "missing"),
        (["--model", "embedded:folder"], 1, "folder"),
        (["--model", "embedded:damaged"], 1, "damaged"),
    ],
)
def test_bad_settings(ticore: Ticore, arguments: list[str], status: int, part: str) -> None:
    Path("folder").mkdir()
    Path("damaged").mkdir()
    Path("damaged/config.json").write_text('{"model_type": "llama"')
    ticore("agree", *arguments).assert_error(status, part)


@pytest.mark.parametrize("prompt", ["a\0b", "a\ufffdb", "\r\n", " ", "a\u0301", "𝒂"])
def test_a_strange_prompt_is_kept_or_refused(ticore: Ticore, prompt: str) -> None:
    made = ticore("agree", "--prompt", prompt)
    if made.status:
        made.assert_error(1, "prompt")
    else:
        assert Pact.loads(made.out.decode(), "stdout").agreement.prompt == prompt
