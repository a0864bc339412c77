"""`ticore watermark`: texts in every form, found by the detector, and what is refused."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import ticore as library
from ticore.interfaces import LanguageModel

from .conftest import Ticore

KEY = bytes(range(32))
PROMPT = "The weather in spring"
SHORT = ("--key-file", "K", "--prompt", PROMPT, "--tokens", "12", "--seed", "1")


@pytest.fixture(autouse=True)
def _key_file() -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(KEY.hex() + "\n")


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return library.load_model("tiny-en")


def test_the_text_is_the_librarys(ticore: Ticore, model: LanguageModel) -> None:
    found = ticore("watermark", *SHORT, "--scheme", "gumbel", "--top-k", "50", "--top-p", "0.9")
    writer = library.Watermarker(model, "gumbel", key=KEY, seed=1, top_k=50, top_p=0.9)
    expected = writer.generate(PROMPT, tokens=12).text
    assert (found.status, found.out.decode(), found.err) == (0, expected, "")


def test_settings_of_green_lists(ticore: Ticore, model: LanguageModel) -> None:
    settings = ("--gamma", "0.25", "--delta", "4", "--greens", "exact", "--temperature", "0.7")
    found = ticore("watermark", *SHORT, *settings)
    writer = library.Watermarker(
        model, key=KEY, seed=1, temperature=0.7, gamma=0.25, delta=4.0, greens="exact"
    )
    assert found.out.decode() == writer.generate(PROMPT, tokens=12).text


def test_json(ticore: Ticore, model: LanguageModel) -> None:
    shown = json.loads(ticore("watermark", *SHORT, "--json", "--scheme", "unigram").out)
    assert set(shown) == {
        *("text", "ids", "whole", "end", "rollbacks", "temporary", "undone", "forwards"),
        *("consistent", "seconds", "scheme", "version"),
    }
    assert (shown["scheme"], shown["version"]) == ("unigram", 2)
    assert shown["consistent"] is True
    assert shown["whole"].startswith(PROMPT)
    assert model.tokenizer.encode(shown["text"]) == shown["ids"]


@pytest.mark.parametrize("view", ["continuation", "whole"])
def test_a_stream_is_the_text(ticore: Ticore, view: str) -> None:
    at_once = ticore("watermark", *SHORT, "--view", view)
    streamed = ticore("watermark", *SHORT, "--view", view, "--stream")
    assert (streamed.status, streamed.err) == (0, "")
    assert streamed.out == at_once.out
    assert streamed.out.startswith(PROMPT.encode()) == (view == "whole")


def test_what_is_written_is_detected(ticore: Ticore) -> None:
    arguments = ("--key-file", "K", "--scheme", "gumbel")
    written = ticore("watermark", *arguments, "--prompt", PROMPT, "--tokens", "40", "--seed", "2")
    found = ticore("detect", *arguments, "--json", stdin=written.out)
    assert json.loads(found.out)["verdict"] == "watermarked"


def test_without_rollback(ticore: Ticore) -> None:
    shown = json.loads(ticore("watermark", *SHORT, "--no-rollback", "--json").out)
    assert (shown["rollbacks"], shown["temporary"], shown["undone"]) == (0, 0, 0)
    assert shown["forwards"] == len(shown["ids"]) - 1  # nothing is asked behind the last


def test_a_text_that_fills_the_context(ticore: Ticore, model: LanguageModel) -> None:
    prompt = " word" * (model.context_length - 5)
    arguments = ("--key-file", "K", "--prompt", prompt, "--tokens", "50", "--no-end-of-text")
    found = ticore("watermark", *arguments, "--json")
    shown = json.loads(found.out)
    assert (found.status, shown["end"]) == (0, "context")
    count = len(shown["ids"])
    said = f"ticore: the text ends after {count} of 50 tokens: the model can read no more\n"
    assert found.err == said


def test_help_tells_the_librarys_defaults(ticore: Ticore) -> None:
    text = " ".join(ticore("watermark", "--help").out.decode().split())
    parameters = inspect.signature(library.Watermarker).parameters
    for name in ("scheme", "observation", "view", "temperature", "top_p"):
        own = text.partition(f" --{name.replace('_', '-')} ")[2]
        assert own.partition("[default: ")[2].partition("]")[0] == str(parameters[name].default)


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--stream", "--json"], 2, "not both"),
        (["--observation", "3", "--no-rollback"], 2, "not both"),
        (["--observation", "-1"], 2, "observation: expected 0 or more"),
        (["--view", "nix"], 2, "--view: expected one of"),
        (["--scheme", "nix"], 2, "unknown scheme 'nix'"),
        (["--scheme", "gumbel", "--gamma", "0.5"], 2, "found gamma"),
        (["--gamma", "1"], 2, "gamma: expected"),
        (["--delta", "nan"], 2, "delta: expected"),
        (["--greens", "nix"], 2, "greens: expected independent or exact"),
        (["--temperature", "0"], 2, "temperature"),
        (["--top-k", "-1"], 2, "top_k"),
        (["--tokens", "-1"], 2, "tokens: expected 0 or more"),
        (["--tokens", "many"], 2, "--tokens"),
        (["--prompt", "a\udcff"], 2, "lone surrogate"),
        (["--prompt", "word " * 3000], 1, "shorten it"),
        (["--model", "nix"], 1, "no embedded model is called 'nix'"),
        (["--key-file", "missing"], 1, "cannot read missing"),
        (["nix"], 2, "nix"),
    ],
)
def test_what_is_refused(ticore: Ticore, arguments: list[str], status: int, part: str) -> None:
    ticore("watermark", *SHORT, *arguments).assert_error(status, part)


def test_a_key_is_needed(ticore: Ticore) -> None:
    ticore("watermark").assert_error(2, "--key-file")
    Path("short").write_text("0f")
    ticore("watermark", "--key-file", "short").assert_error(1, "found 2 characters")


def test_no_tokens(ticore: Ticore) -> None:
    found = ticore("watermark", "--key-file", "K", "--tokens", "0")
    assert (found.status, found.out, found.err) == (0, b"", "")
