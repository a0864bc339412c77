"""`ticore watermark`: texts in every form, which the detector finds, and what is refused."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import ticore as library
from ticore.interfaces import ChatTemplate, LanguageModel

from .conftest import Ticore

KEY = bytes(range(32))
PROMPT = "The weather in spring"
SHORT = ("--key-file", "K", "--prompt", PROMPT, "--max-new-tokens", "12", "--seed", "1")


@pytest.fixture(autouse=True)
def _key_file() -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(KEY.hex() + "\n")


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return library.load_model("tiny-en")


@pytest.mark.slow
def test_watermark_writes_the_text_of_the_library(ticore: Ticore, model: LanguageModel) -> None:
    found = ticore("watermark", *SHORT, "--scheme", "gumbel", "--top-k", "50", "--top-p", "0.9")
    writer = library.Watermarker(model, "gumbel", key=KEY, seed=1, top_k=50, top_p=0.9)
    expected = writer.generate(PROMPT, max_new_tokens=12).text
    assert (found.status, found.out.decode(), found.err) == (0, expected, "")


def test_watermark_passes_on_the_settings_of_green_lists(
    ticore: Ticore, model: LanguageModel
) -> None:
    settings = ("--gamma", "0.25", "--delta", "4", "--greens", "exact", "--context", "2")
    found = ticore("watermark", *SHORT, *settings, "--temperature", "0.7")
    writer = library.Watermarker(
        model, key=KEY, seed=1, temperature=0.7, gamma=0.25, delta=4.0, greens="exact", context=2
    )
    assert found.out.decode() == writer.generate(PROMPT, max_new_tokens=12).text


def test_watermark_prints_the_result_and_what_it_was_written_with_when_json_is_given(
    ticore: Ticore, model: LanguageModel
) -> None:
    shown = json.loads(ticore("watermark", *SHORT, "--json", "--scheme", "unigram").out)
    assert set(shown) == {
        *("text", "ids", "whole", "end", "rollbacks", "temporary", "backtracks", "forwards"),
        *("consistent", "seconds", "seed", "undone", "scheme", "version", "key", "model"),
    }
    assert (shown["scheme"], shown["version"]) == ("unigram", 2)
    assert shown["consistent"] is True
    assert shown["whole"].startswith(PROMPT)
    assert model.tokenizer.encode(shown["text"]) == shown["ids"]


@pytest.mark.slow
@pytest.mark.parametrize("view", ["continuation", "whole"])
def test_watermark_prints_the_same_text_when_it_streams(ticore: Ticore, view: str) -> None:
    at_once = ticore("watermark", *SHORT, "--view", view)
    streamed = ticore("watermark", *SHORT, "--view", view, "--stream")
    assert (streamed.status, streamed.err) == (0, "")
    assert streamed.out == at_once.out
    assert streamed.out.startswith(PROMPT.encode()) == (view == "whole")


def test_watermark_writes_what_detect_finds(ticore: Ticore) -> None:
    arguments = ("--key-file", "K", "--scheme", "gumbel")
    written = ticore(
        "watermark", *arguments, "--prompt", PROMPT, "--max-new-tokens", "40", "--seed", "2"
    )
    found = ticore("detect", *arguments, "--json", stdin=written.out)
    assert json.loads(found.out)["verdict"] == "watermarked"


def test_watermark_writes_what_another_engine_writes(ticore: Ticore) -> None:
    Path("vllm.json").write_text('{"algorithm": "gumbel", "key": 42}')
    arguments = ("--scheme", "vllm", "--config", "vllm.json")
    prompt = ("--prompt", PROMPT, "--seed", "2")
    written = ticore("watermark", *arguments, *prompt, "--max-new-tokens", "40")
    found = ticore("detect", *arguments, "--json", stdin=written.out)
    assert json.loads(found.out)["verdict"] == "watermarked"
    refused = ticore("watermark", *arguments, *prompt, "--gamma", "0.5")
    refused.assert_error(2, "gamma: these are settings of ticore's own schemes")
    refused = ticore("watermark", *arguments, *prompt, "--rollback", "exact")
    refused.assert_error(2, "rollback: expected 'windowed'")
    ticore("watermark", *arguments, "--key-file", "K").assert_error(2, "and no --key-file")
    ticore("watermark", "--scheme", "vllm").assert_error(2, "--config FILE for --scheme vllm")


def test_watermark_says_what_detectors_of_longer_lists_must_know(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of transformers are as long as the logits; a detector sees the tokenizer alone."""
    model = library.load_model("tiny-en")
    width = model.logit_width + 64
    monkeypatch.setattr(type(model), "logit_width", width)
    Path("kgw.json").write_text('{"hashing_key": 9}')
    options = ("--scheme", "transformers", "--config", "kgw.json", "--prompt", PROMPT)
    found = ticore("watermark", *options, "--max-new-tokens", "0")
    assert f'put "vocab_size": {width} into the file of --config' in found.err
    Path("kgw.json").write_text(f'{{"hashing_key": 9, "vocab_size": {width}}}')
    assert "vocab_size" not in ticore("watermark", *options, "--max-new-tokens", "0").err


def test_watermark_takes_nothing_back_when_no_rollback_is_given(ticore: Ticore) -> None:
    shown = json.loads(ticore("watermark", *SHORT, "--no-rollback", "--json").out)
    assert (shown["rollbacks"], shown["temporary"], shown["backtracks"]) == (0, 0, 0)
    assert shown["forwards"] == len(shown["ids"]) - 1  # the last one need not be read


def test_watermark_passes_on_the_settings_of_rollback(ticore: Ticore, model: LanguageModel) -> None:
    exact = ("--rollback", "exact", "--max-attempts", "50")
    found = ticore("watermark", *SHORT, *exact, "--json")
    writer = library.Watermarker(model, key=KEY, seed=1, rollback="exact", max_attempts=50)
    expected = writer.generate(PROMPT, max_new_tokens=12)
    assert json.loads(found.out)["ids"] == list(expected.ids)
    assert ticore("watermark", *SHORT, *exact, "--stream").out.decode().strip() == expected.text


@pytest.mark.slow
def test_watermark_says_so_when_the_context_is_full(ticore: Ticore, model: LanguageModel) -> None:
    prompt = " word" * (model.context_length - 5)
    arguments = (
        "--key-file",
        "K",
        "--prompt",
        prompt,
        "--max-new-tokens",
        "50",
        "--no-end-of-text",
    )
    found = ticore("watermark", *arguments, "--json")
    shown = json.loads(found.out)
    assert (found.status, shown["end"]) == (0, "context")
    count = len(shown["ids"])
    said = f"ticore: the text ends after {count} of 50 tokens: the model's context is full\n"
    assert found.err == said


def test_watermark_help_shows_the_defaults_of_the_library(ticore: Ticore) -> None:
    text = " ".join(ticore("watermark", "--help").out.decode().split())
    parameters = inspect.signature(library.Watermarker).parameters
    for name in ("scheme", "observation", "rollback", "view", "temperature", "top_p"):
        own = text.partition(f" --{name.replace('_', '-')} ")[2]
        assert own.partition("[default: ")[2].partition("]")[0] == str(parameters[name].default)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--stream", "--json"], 2, "not both"),
        (["--observation", "3", "--no-rollback"], 2, "not both"),
        (["--rollback", "exact", "--no-rollback"], 2, "give --rollback or --no-rollback, not both"),
        (["--rollback", "exact", "--observation", "3"], 2, "or --rollback exact, not both"),
        (["--max-attempts", "3"], 2, "give --max-attempts with --rollback exact"),
        (["--rollback", "exact", "--max-attempts", "0"], 2, "--max-attempts: expected an integer"),
        (["--rollback", "nix"], 2, "rollback: expected one of windowed, exact"),
        (["--rollback", "exact", "--scheme", "gumbel"], 2, "such as greedy or the scheme gumbel"),
        (["--observation", "-1"], 2, "observation: expected an integer of at least 0"),
        (["--view", "nix"], 2, "--view: expected one of"),
        (["--scheme", "nix"], 2, "unknown scheme 'nix'"),
        (["--scheme", "gumbel", "--gamma", "0.5"], 2, "found --gamma"),
        (["--gamma", "1"], 2, "gamma: expected"),
        (["--delta", "nan"], 2, "delta: expected"),
        (["--greens", "nix"], 2, "greens: expected independent or exact"),
        (["--temperature", "0"], 2, "temperature"),
        (["--top-k", "-1"], 2, "--top-k: "),
        (["--max-new-tokens", "-1"], 2, "--max-new-tokens: expected an integer of at least 0"),
        (["--seed", "-5"], 2, "seed: expected an integer of at least 0"),
        (["--max-new-tokens", "many"], 2, "--max-new-tokens"),
        (["--prompt", "a\udcff"], 2, "lone surrogate"),
        (["--prompt-file", "p"], 2, "give --prompt or --prompt-file, not both"),
        (["--tokens", "3"], 2, "--tokens is its old name"),
        (["--prompt", "word " * 3000], 1, "shorten it"),
        (["--model", "nix"], 1, "no model is called 'nix'"),
        (["--key-file", "missing"], 1, "cannot read missing"),
        (["nix"], 2, "nix"),
    ],
)
def test_watermark_refuses_wrong_usage(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    ticore("watermark", *SHORT, *arguments).assert_error(status, part)


def test_watermark_needs_a_key(ticore: Ticore) -> None:
    ticore("watermark").assert_error(2, "give --agreement FILE, or --key-file FILE for")
    Path("short").write_text("0f")
    ticore("watermark", "--key-file", "short").assert_error(1, "found 2 characters")


def test_watermark_writes_nothing_when_max_new_tokens_is_0(ticore: Ticore) -> None:
    found = ticore("watermark", "--key-file", "K", "--max-new-tokens", "0")
    assert (found.status, found.out, found.err) == (0, b"", "")


@pytest.mark.slow
def test_watermark_takes_its_prompt_from_a_file_or_from_standard_input(ticore: Ticore) -> None:
    Path("prompt").write_text(PROMPT)
    short = ("--key-file", "K", "--max-new-tokens", "12", "--seed", "1")
    expected = ticore("watermark", *SHORT).out
    assert ticore("watermark", *short, "--prompt-file", "prompt").out == expected
    stdin = PROMPT.encode()
    assert ticore("watermark", *short, "--prompt-file", "-", stdin=stdin).out == expected


@pytest.mark.slow
def test_watermark_warns_when_tokens_is_given(ticore: Ticore) -> None:
    short = ("--key-file", "K", "--prompt", PROMPT, "--seed", "1")
    found = ticore("watermark", *short, "--tokens", "12")
    assert found.out == ticore("watermark", *SHORT).out
    assert found.err == "ticore: warning: --tokens is deprecated; use --max-new-tokens\n"


def test_watermark_replies_to_a_conversation(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    model = library.load_model("tiny-en")
    template = ChatTemplate("{% for m in messages %}{{ m.content }} {% endfor %}")
    monkeypatch.setattr(type(model), "chat_template", template, raising=False)

    def encode(self: LanguageModel, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    monkeypatch.setattr(type(model), "encode_conversation", encode, raising=False)
    messages = [{"role": "system", "content": "Once"}, {"role": "user", "content": "upon a"}]
    Path("chat.json").write_text(json.dumps(messages))

    short = ("--key-file", "K", "--max-new-tokens", "12", "--seed", "1")
    expected = ticore("watermark", *short, "--prompt", "Once upon a ").out
    assert expected
    assert ticore("watermark", *short, "--chat", "chat.json").out == expected
    assert ticore("watermark", *short, "--user", "upon a", "--system", "Once").out == expected
    stdin = Path("chat.json").read_bytes()
    assert ticore("watermark", *short, "--chat", "-", stdin=stdin).out == expected


@pytest.mark.parametrize(
    ("options", "status", "part"),
    [
        (["--user", "a", "--chat", "c"], 2, "give --chat or --user, not both"),
        (["--system", "a"], 2, "expected --user TEXT as well"),
        (["--chat", "absent"], 1, "absent"),
        (["--user", "a"], 1, "expected a model with a chat template"),
    ],
)
def test_watermark_refuses_conversations(
    ticore: Ticore, options: list[str], status: int, part: str
) -> None:
    ticore("watermark", "--key-file", "K", *options).assert_error(status, part)
