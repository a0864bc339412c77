"""`ticore agree-watermark`: one file, with which writer and detector cannot differ."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from ticore.watermarking import WatermarkAgreement

from .conftest import Ticore

PROMPT = ("--prompt", "The weather in spring", "--max-new-tokens", "40", "--seed", "2")
KEY = bytes(range(32))


def test_agree_watermark_makes_a_file_that_its_owner_alone_can_read(ticore: Ticore) -> None:
    found = ticore("agree-watermark", "--scheme", "unigram", "--gamma", "0.25", "-o", "mark.json")
    assert (found.status, found.out, found.err) == (0, b"", "")
    assert stat.S_IMODE(Path("mark.json").stat().st_mode) == 0o600
    agreement = WatermarkAgreement.load("mark.json")
    assert agreement.settings == {"gamma": 0.25, "delta": 2.0, "greens": "independent"}
    ticore("agree-watermark", "-o", "mark.json").assert_error(1, "found that it exists")
    assert WatermarkAgreement.load("mark.json") == agreement


def test_agree_watermark_prints_the_file_when_there_is_no_output(ticore: Ticore) -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(KEY.hex())
    found = ticore("agree-watermark", "--key-file", "K")
    assert WatermarkAgreement.loads(found.out).key == KEY


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["gumbel", "left_hash"])
def test_detect_finds_what_watermark_writes_when_both_have_the_agreement(
    ticore: Ticore, scheme: str
) -> None:
    """Whatever the scheme is: neither command is told its name."""
    ticore("agree-watermark", "--scheme", scheme, "-o", "mark.json")
    ticore("agree-watermark", "--scheme", scheme, "-o", "other.json")
    agreed = ("--agreement", "mark.json")
    written = ticore("watermark", *agreed, *PROMPT, "--max-new-tokens", "120")
    found = json.loads(ticore("detect", *agreed, "--json", stdin=written.out).out)
    assert found["verdict"] == "watermarked"
    assert (found["scheme"], found["version"], found["tokenizer"]) == (scheme, 2, "tiny-en")
    assert found["key"] == WatermarkAgreement.load("mark.json").key_fingerprint
    other = ticore("detect", "--agreement", "other.json", stdin=written.out).out.decode()
    assert "no watermark found" in other
    assert WatermarkAgreement.load("other.json").key_fingerprint in other


def test_detect_scans_a_file_with_an_agreement(ticore: Ticore) -> None:
    ticore("agree-watermark", "-o", "mark.json")
    Path("rows.jsonl").write_text(json.dumps({"text": "It was a cold morning."}) + "\n")
    found = ticore("detect", "--agreement", "mark.json", "rows.jsonl", "--column", "text", "--json")
    shown = json.loads(found.out)
    assert (shown["rows"], shown["without"], shown["scheme"]) == (1, 1, "left_hash")
    assert shown["key"] == WatermarkAgreement.load("mark.json").key_fingerprint


def test_check_key_takes_an_agreement(ticore: Ticore) -> None:
    ticore("agree-watermark", "-o", "mark.json")
    Path("texts").write_text("It was a cold morning.\n")
    found = ticore("check-key", "--agreement", "mark.json", "texts")
    assert b"too few texts" in found.out
    assert WatermarkAgreement.load("mark.json").key_fingerprint in found.out.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["watermark", "--scheme", "gumbel"], 2, "--scheme: the file of --agreement states"),
        (["detect", "--key-file", "K", "--gamma", "0.5"], 2, "--key-file, --gamma: the file of"),
        (["detect", "--tokenizer", "tiny-en"], 2, "--tokenizer: the file of --agreement states"),
        (["watermark", "--agreement", "missing"], 1, "cannot read missing"),
        (["detect", "--agreement", "pact.json"], 1, "expected a file of the format 'ticore-wat"),
        (
            ["detect", "--agreement", "other.json"],
            2,
            "expected the one that was agreed on, tiny-en",
        ),
        (["watermark", "--agreement", "other.json"], 2, "expected the one that was agreed on"),
        (["watermark", "--agreement", "place.json"], 2, "--model: expected the model that writes"),
    ],
)
def test_commands_refuse_an_agreement_that_does_not_fit(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    ticore("agree-watermark", "-o", "mark.json")
    Path("pact.json").write_text(json.dumps({"format": "ticore-pact-1"}))
    document = json.loads(Path("mark.json").read_text())
    other = json.dumps(document | {"tokenizer_digest": "00" * 32})
    place = json.dumps(document | {"tokenizer": "sentencepiece:tokenizer.model"})
    for name, text in (("other.json", other), ("place.json", place)):
        Path(name).touch(mode=0o600)
        Path(name).write_text(text)
    command, *more = arguments
    agreed = [] if "--agreement" in more else ["--agreement", "mark.json"]
    found = ticore(command, *agreed, *more, stdin=b"It was a cold morning.")
    found.assert_error(status, part)


def test_agree_watermark_refuses_wrong_settings(ticore: Ticore) -> None:
    for arguments, part in (
        (["--scheme", "nix"], "unknown scheme 'nix'"),
        (["--scheme", "gumbel", "--gamma", "0.5"], "found --gamma"),
        (["--repeats", "nix"], "repeats: expected one of once, all"),
    ):
        ticore("agree-watermark", *arguments).assert_error(2, part)


def test_payload_is_the_writer_s_own_and_the_reader_sees_it(ticore: Ticore) -> None:
    made = ticore("agree-watermark", "--scheme", "gumbel_payload", "--payload-bits", "16")
    assert b'"payload"' not in made.out
    Path("mark.json").touch(mode=0o600)
    Path("mark.json").write_bytes(made.out)
    agreed = ("--agreement", "mark.json")
    ticore("watermark", *agreed, *PROMPT).assert_error(2, "payload: expected 2 bytes to write")
    ticore("watermark", *agreed, *PROMPT, "--payload", "0xbe").assert_error(2, "found '0xbe'")
    written = ticore("watermark", *agreed, *PROMPT, "--payload", "c0de")
    found = json.loads(ticore("detect", *agreed, "--json", stdin=written.out).out)
    assert (found["verdict"], found["payload"]["payload"]) == ("watermarked", "c0de")
    shown = ticore("detect", *agreed, "--html", "page.html", stdin=written.out).out.decode()
    assert "c0de" in shown
    assert "c0de" in Path("page.html").read_text()
