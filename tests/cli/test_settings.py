"""Settings given on the command line: their defaults, and what is refused."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from ticore._cli.settings import Settings
from ticore.steganography import Agreement, Steganographer

from .conftest import Ticore


def test_arguments_are_those_that_were_given() -> None:
    assert Settings().arguments() == {}
    assert Settings(prompt="", top_k=0).arguments() == {"prompt": "", "top_k": None}
    assert Settings().place == "tiny-en"
    assert Settings(model="").place == ""


def test_settings_have_an_option_for_every_setting_of_the_library() -> None:
    library = set(inspect.signature(Steganographer).parameters)
    elsewhere = {"key", "password"}  # secrets
    writing = {"finish", "pad", "compress", "shortest_of", "entropy"}  # what only a writer needs
    fixed = {"grid_bits", "weight_bits"}  # bits that a person has no reason to change
    opening = {"dtype", "device"}  # how a model is opened is the backend's matter
    prompts = {"prompt_file", "chat", "user", "system"}
    assert {f.name for f in fields(Settings)} == (
        library - elsewhere - writing - fixed | opening | prompts
    )


def test_agree_uses_the_defaults_of_the_library_without_options(ticore: Ticore) -> None:
    found = Agreement.loads(ticore("agree").out.decode(), "stdout").to_dict()
    expected = Steganographer(Settings().open_model()).agreement.to_dict()
    assert found == expected


@pytest.mark.parametrize("command", ["embed", "extract", "agree"])
def test_help_states_each_default(ticore: Ticore, command: str) -> None:
    text = re.sub(r"-\n +", "-", ticore(command, "--help").out.decode())
    text = " ".join(text.split())
    parameters = inspect.signature(Steganographer).parameters
    stated = {
        "model": "tiny-en",
        "prompt": "empty",
        "openers": "none",
        "window": "all tokens",
        "dtype": "float64 for a bundled model, else float32",
        "device": "cuda if there is one, else cpu",
        "view": "whole; continuation after a conversation",
        "mode": "viable where consistency is verified, else prefix",
    }
    for field in fields(Settings):
        # Without any of these there is the default of --prompt.
        if field.name in ("prompt_file", "chat", "user", "system"):
            continue
        option = "--" + field.name.replace("_", "-")
        own = text.partition(f" {option} ")[2].partition("[default: ")[2].partition("]")[0]
        assert own == (stated.get(field.name) or str(parameters[field.name].default))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--codec", "nix"], 2, "unknown codec 'nix': choose one of"),
        (["--mode", "nix"], 2, "mode: expected one of"),
        (["--view", "nix"], 2, "view: expected one of whole, continuation"),
        (["--disambiguation", "a\udcff"], 2, r"unknown disambiguation 'a\udcff'"),
        (["--top-k", "-1"], 2, "--top-k: "),
        (["--top-k", "1.5"], 2, "--top-k"),
        (["--top-p", "0"], 2, "--top-p: "),
        (["--top-p", "1.01"], 2, "--top-p: "),
        (["--top-p", "nan"], 2, "--top-p: "),
        (["--temperature", "0"], 2, "temperature"),
        (["--temperature", "inf"], 2, "temperature"),
        (["--temperature", "warm"], 2, "--temperature"),
        (["--prompt", "a\udcff"], 2, "lone surrogate"),
        (["--view", "continuation", "--prompt", "\ud800"], 2, "lone surrogate"),
        (["--prompt", "word " * 3000], 1, "shorten it"),
        (["--model", ""], 1, "no model is called ''"),
        (["--model", "nix"], 1, "no model is called 'nix'"),
        (["--model", "nix:folder"], 1, "no backend for models is called 'nix'"),
        (["--model", "embedded:missing"], 1, "missing"),
        (["--model", "embedded:folder"], 1, "folder"),
        (["--model", "embedded:damaged"], 1, "damaged"),
    ],
)
def test_settings_out_of_range_are_wrong_usage(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    Path("folder").mkdir()
    Path("damaged").mkdir()
    Path("damaged/config.json").write_text('{"model_type": "llama"')
    ticore("agree", *arguments).assert_error(status, part)


@pytest.mark.slow
@pytest.mark.parametrize("prompt", ["a\0b", "a\ufffdb", "\r\n", " ", "a\u0301", "𝒂"])
def test_prompt_with_odd_characters_is_recorded_or_refused(ticore: Ticore, prompt: str) -> None:
    made = ticore("agree", "--prompt", prompt)
    if made.status:
        made.assert_error(1, "prompt")
    else:
        assert Agreement.loads(made.out.decode(), "stdout").prompt == prompt
