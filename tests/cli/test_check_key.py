"""`ticore check-key`: how many texts that people wrote a key calls watermarked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Ticore

SETTINGS = ("--key-file", "K", "--scheme", "unigram")
# One text over and over is the extreme of texts that are alike.
LINE = "It was a cold morning, and nobody had thought of bringing any wood into the house.\n"


@pytest.fixture(autouse=True)
def _files() -> None:
    Path("texts").write_text(LINE * 120)
    rows = [json.dumps({"said": LINE.strip()}) + "\n"] * 120
    Path("texts.jsonl").write_text("".join(rows))


def key(number: int) -> None:
    Path("K").touch(mode=0o600)
    Path("K").write_text(bytes([number] * 32).hex() + "\n")


def unlucky_key(ticore: Ticore) -> int:
    """One of few whose list happens to hold this text's words."""
    for number in range(40):
        key(number)
        if ticore("check-key", *SETTINGS, "texts").status == 1:
            return number
    raise AssertionError("no key of 40 is unlucky")


@pytest.mark.slow
def test_check_key_says_what_to_do_when_a_key_is_unlucky(ticore: Ticore) -> None:
    number = unlucky_key(ticore)
    found = ticore("check-key", *SETTINGS, "texts")
    shown = found.out.decode()
    assert found.err == ""
    assert shown.splitlines()[0].split() == ["verdict", "unlucky"]
    assert "unigram, version 2" in shown
    assert "choose another key" in shown
    same = ticore("check-key", *SETTINGS, "texts.jsonl", "--column", "said")
    assert (same.status, same.out) == (1, found.out)
    as_json = json.loads(ticore("check-key", *SETTINGS, "texts", "--json").out)
    assert (as_json["verdict"], as_json["texts"], as_json["skipped"]) == ("unlucky", 120, 0)
    assert as_json["rates"][0] | {"p_value": 0} == {
        "level": 0.1, "called": 120, "texts": 120, "p_value": 0,
        "low": pytest.approx(0.957, abs=0.001), "high": 1.0,
    }  # fmt: skip
    key(number + 1)
    other = ticore("check-key", *SETTINGS, "texts")
    assert (other.status, b"no sign" in other.out) == (0, True)


def test_check_key_exits_with_0_when_there_is_no_sign_of_bad_luck(ticore: Ticore) -> None:
    key(0)
    settings = ("--key-file", "K", "--scheme", "left_hash", "--scheme-version", "1")
    Path("few").write_text(LINE * 3)
    found = ticore("check-key", *settings, "few")
    assert found.status == 0
    assert b"too few texts" in found.out
    assert b"left_hash, version 1" in found.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["texts", "--column", "said"], 2, "texts: --column: expected a file that ends in .jsonl"),
        (["texts.jsonl"], 2, "name the column with the texts"),
        (["texts", "--fpr", "2"], 2, "fpr: expected a rate above 0"),
        (["nothing"], 1, "cannot read nothing"),
        (["empty"], 1, "empty: expected texts, found none"),
        ([], 2, "give at least one FILE of texts"),
    ],
)
def test_check_key_refuses_wrong_usage(
    ticore: Ticore, arguments: list[str], status: int, said: str
) -> None:
    key(0)
    Path("empty").write_text("\n\n")
    found = ticore("check-key", *SETTINGS, *arguments)
    assert (found.status, found.out) == (status, b"")
    assert said in found.err


@pytest.mark.parametrize("engine", ["vllm", "synthid"])
def test_check_key_says_what_counts_for_another_engine(ticore: Ticore, engine: str) -> None:
    key(0)
    found = ticore("check-key", "--key-file", "K", "--scheme", engine, "texts")
    found.assert_error(2, f"--scheme: expected one of ticore's own, found {engine}")
    assert "`ticore calibrate` counts" in found.err


def test_check_key_warns_when_texts_is_given(ticore: Ticore) -> None:
    key(0)
    found = ticore("check-key", *SETTINGS, "texts")
    old = ticore("check-key", *SETTINGS, "--texts", "texts")
    assert (old.status, old.out) == (found.status, found.out)
    assert "ticore: warning: --texts is deprecated; give FILE without it\n" in old.err
    assert "deprecated" not in found.err
