"""`embed`, `extract`, `keygen`, `agree`: the right message, or an error and nothing else."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

import ticore_embedded
from ticore._cli import streams
from ticore._cli.messages import readable
from ticore.keys import format_key, parse_key
from ticore.steganography import Agreement, _long_messages

from .conftest import MESSAGE, PROMPT, Result, Sent, Ticore

BY_KEY = ("--prompt", PROMPT, "--top-k", "32")
MODELS = Path(ticore_embedded.__file__).parent / "models"


@pytest.mark.slow
def test_long_message_takes_several_files(
    ticore: Ticore, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_long_messages, "_LARGEST_PART", 6)
    message, folder = b"three parts: 3x6", tmp_path / "parts"
    wrote = ticore("embed", "--agreement", sent.pact, "--parts", folder, stdin=message)
    files = sorted(folder.iterdir(), reverse=True)
    assert wrote.out == b""
    assert len(files) == 3
    assert files[-1].name == f"part-1-of-{len(files)}.txt"
    assert ticore("extract", "--agreement", sent.pact, *files).out == message
    missing = ticore("extract", "--agreement", sent.pact, *files[1:])
    assert missing.status == 1
    assert "part 3 of 3 is missing" in missing.err
    one = ticore("extract", "--agreement", sent.pact, files[0])
    assert "give the texts of all parts together" in one.err


def test_parts_go_to_a_new_folder_alone(ticore: Ticore, sent: Sent, tmp_path: Path) -> None:
    found = ticore("embed", "--agreement", sent.pact, "--parts", tmp_path, stdin=b"x")
    assert found.status == 1
    assert "expected --parts to name a new folder" in found.err
    lost = ticore("embed", "--agreement", sent.pact, "--parts", "missing/parts", stdin=b"x")
    lost.assert_error(1, "cannot write missing/parts: there is no directory missing; make it first")
    long = "long" * 100
    found = ticore("embed", "--agreement", sent.pact, "--json", "--parts", long, stdin=b"x")
    assert found.status == 1
    assert f"cannot write {long}: " in found.err
    assert json.loads(found.out)["error"]["kind"] == "OutputFileError"


@pytest.mark.slow
def test_extract_gives_the_message_back_with_an_agreement(ticore: Ticore, sent: Sent) -> None:
    assert sent.text.startswith(PROMPT.encode())
    read = ticore("extract", "--agreement", sent.pact, stdin=sent.text)
    assert (read.status, read.out, read.err) == (0, MESSAGE, "")


def test_extract_gives_the_message_back_with_a_key_file(ticore: Ticore, sent: Sent) -> None:
    read = ticore("extract", "--key-file", sent.key, *BY_KEY, stdin=sent.text_by_key)
    assert (read.status, read.out, read.err) == (0, MESSAGE, "")


@pytest.mark.slow
def test_extract_gives_the_message_back_with_a_password(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(streams.PASSWORD_VARIABLE, "korrekt Pferd")
    written = ticore("embed", "--password", "--view", "continuation", stdin=b"")
    assert (written.status, written.err) == (0, "")
    assert streams.PASSWORD_VARIABLE not in os.environ  # nothing that is started has it
    monkeypatch.setenv(streams.PASSWORD_VARIABLE, "korrekt Pferd")
    read = ticore("extract", "--password", "--view", "continuation", stdin=written.out)
    assert (read.status, read.out, read.err) == (0, b"", "")
    monkeypatch.setenv(streams.PASSWORD_VARIABLE, "korrekt pferd")
    wrong = ticore("extract", "--password", "--view", "continuation", stdin=written.out)
    wrong.assert_error(1, "key")


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["\n", " And so on.", "\n\n> quoted\x00é", "\r\n"])
def test_extract_ignores_what_was_added_to_the_end(ticore: Ticore, sent: Sent, tail: str) -> None:
    read = ticore("extract", "--agreement", sent.pact, stdin=sent.text + tail.encode())
    assert (read.status, read.out) == (0, MESSAGE)


@pytest.mark.slow
def test_json_of_embed_has_the_text_and_its_measures(ticore: Ticore, sent: Sent) -> None:
    written = json.loads(ticore("embed", "--agreement", sent.pact, "--json", stdin=b"hi").out)
    assert set(written) == {"text", "tokens", "bits", "bits_per_token", "kl_filter", "seconds"}
    assert written["bits_per_token"] == written["bits"] / written["tokens"]
    text = written["text"].encode()
    read = json.loads(ticore("extract", "--agreement", sent.pact, "--json", stdin=text).out)
    assert read == {"message": "hi", "message_base64": base64.b64encode(b"hi").decode()}


def test_json_of_extract_has_base64_when_the_message_is_not_text(
    ticore: Ticore, sent: Sent
) -> None:
    read = json.loads(ticore("extract", "--agreement", sent.pact, "--json", stdin=sent.text).out)
    assert read["message"] is None
    assert base64.b64decode(read["message_base64"]) == MESSAGE


def test_readable_is_none_when_the_message_is_not_utf8() -> None:
    assert readable("né".encode()) == "né"
    assert readable(b"\xff") is None


def test_keygen_makes_another_key_each_time(ticore: Ticore) -> None:
    keys = {parse_key(ticore("keygen").out, "stdout") for _ in range(3)}
    assert len(keys) == 3


def test_agree_writes_what_was_given(ticore: Ticore) -> None:
    given = ("--prompt", "Née", "--top-k", "0", "--top-p", "0.5", "--temperature", "2")
    made = ticore("agree", *given, "--view", "continuation", "--model", "tiny-en")
    found = Agreement.loads(made.out.decode(), "stdout")
    assert (found.model_place, found.prompt, found.view) == ("tiny-en", "Née", "continuation")
    assert (found.top_k, found.top_p, found.temperature) == (None, 0.5, 2.0)


@pytest.mark.slow
def test_agree_refuses_settings_that_can_hide_nothing(ticore: Ticore) -> None:
    ticore("agree", "--top-k", "1").assert_error(2, "--top-k: expected at least 2")


def test_advice_is_in_the_words_of_the_command_line(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICORE_PASSWORD", "four unrelated words")
    found = ticore("embed", "--window", "4", "--edits", "0.05", "--password", stdin=b"noon")
    found.assert_error(1, "give --key-file FILE")


def test_agree_makes_a_private_file_and_never_replaces_one(ticore: Ticore) -> None:
    made = ticore("agree", "-o", "pact")
    assert (made.status, made.out, made.err) == (0, b"", "")
    content = Path("pact").read_bytes()
    assert stat.S_IMODE(os.stat("pact").st_mode) == 0o600
    ticore("agree", "--output", "pact").assert_error(1, "new file")
    assert ticore("keygen", "-o", "key") == Result(0, b"", "")
    key = Path("key").read_bytes()
    assert stat.S_IMODE(Path("key").stat().st_mode) == 0o600
    assert len(parse_key(key, "key")) == 32
    ticore("keygen", "--output", "key").assert_error(1, "key to be a new file")
    assert Path("key").read_bytes() == key
    assert Path("pact").read_bytes() == content
    ticore("agree", "-o", "nowhere/pact").assert_error(1, "cannot write nowhere/pact")


@pytest.mark.slow
def test_extract_changes_no_file(ticore: Ticore, sent: Sent) -> None:
    def look() -> list[tuple[bytes, int, int]]:
        return [
            (p.read_bytes(), p.stat().st_mode, p.stat().st_mtime_ns) for p in (sent.key, sent.pact)
        ]

    before = look()
    ticore("extract", "--agreement", sent.pact, stdin=b"nothing")
    ticore("extract", "--key-file", sent.key, stdin=b"nothing")
    assert look() == before


@pytest.fixture
def bad_files() -> None:
    """In the working directory: files that are not what they should be."""
    Path("folder").mkdir()
    Path("empty").touch()
    Path("short").write_text("0f" * 31 + "\n")
    Path("no-hex").write_text("xy" * 32 + "\n")
    Path("binary").write_bytes(b"\x7fELF\xff")
    Path("list.json").write_text("[1]")


@pytest.mark.slow
@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("command", ["embed", "extract"])
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        ([], 2, "give one of --agreement, --key-file and --password"),
        (["--key-file", "short", "--password"], 2, "give one of"),
        (["--agreement", "x", "--top-k", "3", "--prompt", "m"], 2, "leave out --prompt, --top-k"),
        (["--key-file"], 2, "--key-file"),
        (["--nix"], 2, "--nix"),
        (["--key-file", "missing"], 1, "cannot read missing: No such file"),
        (["--key-file", "folder"], 1, "cannot read folder: Is a directory"),
        (["--key-file", "empty"], 1, "found 0 characters"),
        (["--key-file", "short"], 1, "found 62 characters"),
        (["--key-file", "no-hex"], 1, "not all of them hex"),
        (["--key-file", "a\udcff\n\x1b[2J"], 1, r"a\udcff\n\x1b[2J"),
        (["--agreement", "missing"], 1, "cannot read missing"),
        (["--agreement", "folder"], 1, "cannot read folder"),
        (["--agreement", "empty"], 1, "not JSON"),
        (["--agreement", "short"], 1, "short: expected an agreement file"),
        (["--agreement", "binary"], 1, "binary: expected an agreement file"),
        (["--agreement", "list.json"], 1, "list.json"),
    ],
)
def test_embed_and_extract_refuse_bad_secrets(
    ticore: Ticore, command: str, arguments: list[str], status: int, part: str
) -> None:
    ticore(command, *arguments, stdin=b"something").assert_error(status, part)


def test_embed_takes_one_message(ticore: Ticore) -> None:
    ticore("embed", "--key-file", "missing", "a", "nix").assert_error(2, "nix")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_embed_refuses_a_key_file_that_may_not_be_read(ticore: Ticore) -> None:
    Path("key").touch(mode=0)
    ticore("embed", "--key-file", "key").assert_error(1, "cannot read key: Permission denied")


@pytest.mark.parametrize(
    ("field", "value", "part"),
    [
        ("model", "0" * 64, "the model that was agreed on"),
        ("tokenizer", "0" * 64, "the tokenizer that was agreed on"),
        ("codec", "nix", "unknown codec 'nix'"),
        ("mode", "nix", "mode"),
        ("view", "nix", "view"),
        ("top_k", -1, "top_k"),
        ("prompt", 3, "prompt"),
    ],
)
def test_extract_refuses_an_agreement_that_does_not_fit(
    ticore: Ticore, sent: Sent, field: str, value: object, part: str
) -> None:
    document = json.loads(sent.pact.read_text())
    document["agreement"][field] = value
    Path("pact").write_text(json.dumps(document))
    ticore("extract", "--agreement", "pact", stdin=sent.text).assert_error(1, part)


def _cut(text: bytes) -> bytes:
    return text[: len(PROMPT) + 40]


def _altered(text: bytes) -> bytes:
    """A word in the first half of the message is no word any more: one letter would be mended."""
    at = next(i for i in range(len(PROMPT) + 20, len(text)) if text[i : i + 1].isalpha())
    return text[:at] + b"qxzqx" + text[at + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "change", "part"),
    [
        (BY_KEY, _cut, "the text was"),
        (BY_KEY, _altered, "the text was"),
        (BY_KEY, lambda _: b"", "found none"),
        (BY_KEY, lambda _: PROMPT.encode(), "ends before the message does"),
        (BY_KEY, lambda text: text[2:], "begins with the prompt"),
        (BY_KEY, lambda text: text.replace(b" ", b"  "), "begins with the prompt"),
        (BY_KEY, lambda text: text.decode().encode("utf-16"), "expected UTF-8 text"),
        (BY_KEY, lambda text: text + b"\xff", "expected UTF-8 text"),
        (("--prompt", PROMPT), None, "setting"),
        (("--prompt", "It was a", "--top-k", "32"), None, "prompt"),
        (("--prompt", "It was a cold day", "--top-k", "32"), None, "begins with the prompt"),
        ((*BY_KEY, "--temperature", "1.5"), None, "setting"),
        ((*BY_KEY, "--top-p", "0.9"), None, "setting"),
        ((*BY_KEY, "--view", "continuation"), None, "setting"),
    ],
)
def test_extract_says_why_a_text_cannot_be_read(
    ticore: Ticore, sent: Sent, arguments: tuple[str, ...], change: object, part: str
) -> None:
    text = change(sent.text_by_key) if callable(change) else sent.text_by_key
    ticore("extract", "--key-file", sent.key, *arguments, stdin=text).assert_error(1, part)


def test_extract_names_the_key_when_it_is_wrong(ticore: Ticore, sent: Sent) -> None:
    Path("other").write_bytes(ticore("keygen").out)
    found = ticore("extract", "--key-file", "other", *BY_KEY, stdin=sent.text_by_key)
    found.assert_error(1, "key")


def test_extract_names_the_settings_when_the_model_differs(ticore: Ticore, sent: Sent) -> None:
    """One that differs in its configuration alone, and so in its digest."""
    shutil.copytree(MODELS / "tiny-en", "other")
    config = json.loads(Path("other/config.json").read_text())
    Path("other/config.json").write_text(json.dumps(config | {"rms_norm_eps": 0.01}))
    arguments = ("--key-file", sent.key, *BY_KEY, "--model", "embedded:other")
    ticore("extract", *arguments, stdin=sent.text_by_key).assert_error(1, "setting")


def test_number_of_texts_is_refused_beside_an_agreement_as_without_one(
    ticore: Ticore, sent: Sent
) -> None:
    for secret in (["--agreement", sent.pact], ["--key-file", sent.key, *BY_KEY]):
        found = ticore("embed", *secret, "--shortest-of", "0", stdin=b"x")
        found.assert_error(2, "--shortest-of: expected an integer of at least 1, found 0")


def test_embed_refuses_a_message_that_does_not_fit(ticore: Ticore, sent: Sent) -> None:
    long = random.Random(0).randbytes(4000)
    ticore("embed", "--agreement", sent.pact, stdin=long).assert_error(1, "context has room")


@pytest.mark.slow
def test_extract_reads_a_portable_text_with_another_backend(ticore: Ticore) -> None:
    pytest.importorskip("jax", reason="the other backend")
    made = ticore("agree", "--prompt", PROMPT, "--numerics", "portable", "-o", "pact")
    assert (made.status, made.err) == (0, "")
    text = ticore("embed", "--agreement", "pact", stdin=b"noon").out
    read = ticore("extract", "--agreement", "pact", "--model", "jax:tiny-en", stdin=text)
    assert (read.status, read.out, read.err) == (0, b"noon", "")
    ticore(
        "extract", "--agreement", "pact", "--model", "jax:tiny-en", "--dtype", "float32", stdin=text
    ).assert_error(1, "in float64")


@pytest.mark.slow
def test_agree_records_how_the_model_is_opened(ticore: Ticore) -> None:
    ticore("agree", "--dtype", "float32", "-o", "pact")
    assert json.loads(Path("pact").read_text())["options"] == {"dtype": "float32"}
    text = ticore("embed", "--agreement", "pact", stdin=b"hi").out
    assert ticore("extract", "--agreement", "pact", stdin=text).out == b"hi"
    ticore("extract", "--agreement", "pact", "--dtype", "float64", stdin=text).assert_error(
        1, "expected the model that was agreed on"
    )


@pytest.mark.slow
def test_extract_reads_a_text_that_was_changed_on_its_way(ticore: Ticore, sent: Sent) -> None:
    forwarded = b"\xef\xbb\xbf[12:03] Ann: " + sent.text.replace(b" ", "\u00a0".encode())
    read = ticore("extract", "--agreement", sent.pact, stdin=forwarded)
    assert (read.status, read.out) == (0, MESSAGE)
    assert read.err == (
        "ticore: the text was changed on its way; undone: no-break spaces, what "
        "stood before the prompt\n"
    )
    edited = sent.text.replace(b"a", b"u", 9)
    ticore("extract", "--agreement", sent.pact, stdin=edited).assert_error(1, "usual changes")
    later = sent.text[:60] + sent.text[60:].replace(b"a", b"u")
    ticore("extract", "--agreement", sent.pact, stdin=later).assert_error(1, "at character ")


@pytest.mark.slow
def test_message_and_text_are_read_from_files_or_standard_input(ticore: Ticore, sent: Sent) -> None:
    Path("message").write_bytes(b"hi")
    text = ticore("embed", "message", "--agreement", sent.pact).out
    Path("text").write_bytes(text)
    for source in ("text", "-"):
        read = ticore("extract", source, "--agreement", sent.pact, stdin=text)
        assert (read.status, read.out, read.err) == (0, b"hi", "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["missing"], "cannot read missing: No such file"),
        (["."], "cannot read .: Is a directory"),
        (["utf16"], "utf16: expected UTF-8 text"),
    ],
)
def test_extract_names_the_file_that_it_cannot_read(
    ticore: Ticore, sent: Sent, arguments: list[str], part: str
) -> None:
    Path("utf16").write_bytes("text".encode("utf-16"))
    ticore("extract", *arguments, "--agreement", sent.pact).assert_error(1, part)


def test_prompt_file_is_taken_exactly(ticore: Ticore) -> None:
    Path("prompt").write_bytes("Née,\n\n".encode())
    made = ticore("agree", "--prompt-file", "prompt")
    assert Agreement.loads(made.out).prompt == "Née,\n\n"
    both = ticore("agree", "--prompt-file", "prompt", "--prompt", "a")
    both.assert_error(2, "give --prompt or --prompt-file, not both")
    ticore("agree", "--prompt-file", "missing").assert_error(1, "cannot read missing")
    fixed = ticore("embed", "--agreement", "x", "--prompt-file", "prompt")
    fixed.assert_error(2, "leave out --prompt-file")


@pytest.mark.slow
def test_agreement_without_a_key_needs_one_beside_it(ticore: Ticore, sent: Sent) -> None:
    made = Agreement.load(sent.pact)
    replace(made, key=None).save("settings.json")
    assert made.key is not None
    Path("K").write_text(format_key(made.key))
    by_key = ("extract", "--agreement", "settings.json", "--key-file", "K")
    assert ticore(*by_key, stdin=sent.text).out == MESSAGE
    ticore("extract", "--agreement", "settings.json").assert_error(2, "holds no key")
    replace(made, model_place=None, key=None).save("settings.json")
    ticore(*by_key, stdin=sent.text).assert_error(2, "give --model PLACE")
    assert ticore(*by_key, "--model", "tiny-en", stdin=sent.text).out == MESSAGE
    both = ticore("extract", "--agreement", sent.pact, "--key-file", "K")
    both.assert_error(2, "give one of --agreement, --key-file and --password")


def test_openers_take_the_place_of_a_prompt(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ticore("agree", "--openers", "en", "--security", "compact", "-o", "pact")
    assert (made.status, made.err) == (0, "")
    settings = json.loads(Path("pact").read_text())["agreement"]
    assert (settings["openers"], settings["prompt"]) == ("en-1", "")
    text = ticore("embed", "--agreement", "pact", "--topic", "story", stdin=b"hi").out
    assert ticore("extract", "--agreement", "pact", stdin=b"Ann: " + text).out == b"hi"
    ticore("extract", "--agreement", "pact", stdin=b"nothing").assert_error(1, "openers")
    ticore("embed", "--agreement", "pact", "--topic", "war", stdin=b"hi").assert_error(2, "--topic")
    ticore("agree", "--openers", "fr").assert_error(2, "openers: expected one of en, ja, zh")
    ticore("agree", "--openers", "en", "--prompt", "One").assert_error(2, "none beside openers")
    by_key = ("embed", "--password", "--topic", "story")
    monkeypatch.setenv(streams.PASSWORD_VARIABLE, "korrekt Pferd")
    ticore(*by_key, stdin=b"hi").assert_error(2, "--topic: expected --openers as well")
