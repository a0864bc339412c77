"""`ticore detect --config LIST`: many configurations at once, and which entry is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ticore as library
from ticore.watermarking import WatermarkAgreement

from .conftest import Ticore

KEYS = [bytes([number] * 32) for number in range(3)]
TEXT = "It was a cold morning, and nobody had thought of bringing any wood into the house. " * 2


@pytest.fixture(autouse=True)
def _files() -> None:
    for name in ("K", "list.json"):
        Path(name).touch(mode=0o600)
    Path("K").write_text(KEYS[0].hex() + "\n")
    Path("plain").write_text(TEXT)
    WatermarkAgreement.new("tiny-en", "gumbel", key=KEYS[2]).save("mark.json")


def write_list(entries: object) -> None:
    Path("list.json").write_text(json.dumps(entries))


def test_detect_looks_for_each_entry_of_a_list(ticore: Ticore) -> None:
    write_list(
        [
            {"scheme": ["gumbel", "left_hash"], "key_file": "K"},
            {"scheme": "unigram", "key": KEYS[1].hex(), "gamma": 0.25, "name": "the second"},
            {"agreement": "mark.json"},
        ]
    )
    tokenizer = library.load_tokenizer("tiny-en")
    for tokenizations, option in (("places", ()), ("search", ("--tokenizations", "search"))):
        found = ticore(
            "detect", "--config", "list.json", "--fpr", "0.01", "--json", *option, "plain"
        )
        assert (found.status, found.err) == (0, "")
        expected = library.WatermarkDetector.any(
            tokenizer,
            [
                {"scheme": ["gumbel", "left_hash"], "key": KEYS[0]},
                {"scheme": "unigram", "key": KEYS[1], "gamma": 0.25, "name": "the second"},
                {"scheme": "gumbel", "key": KEYS[2]},
            ],
            fpr=0.01,
            tokenizer_place="tiny-en",
            tokenizations=tokenizations,
        ).detect(TEXT)
        assert json.loads(found.out) == {"file": "plain", **expected.to_dict()}
    twice = ticore("detect", "--config", "list.json", "--json", "plain", "plain")
    assert "not independent: see ticore check-key" in twice.err
    page = ticore("detect", "--config", "list.json", "--html", "page.html", "plain")
    assert b"corrected for 4 configurations" in page.out
    assert "4 configurations" in Path("page.html").read_text()


def test_detect_scans_tables_for_each_entry_of_a_list(ticore: Ticore) -> None:
    write_list([{"scheme": "gumbel", "key_file": "K"}, {"scheme": "unigram", "key_file": "K"}])
    Path("shards").mkdir()
    for name in ("a", "b"):
        Path(f"shards/{name}.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    arguments = ("--config", "list.json", "--column", "text", "--results-only", "-o", "out")
    found = ticore("detect", *arguments, "--workers", "1", "--json", "shards")
    assert found.status == 0
    assert "not independent" in found.err
    first, second = map(json.loads, found.out.splitlines())
    assert (first["output"], second["output"]) == ("out/a.jsonl", "out/b.jsonl")
    assert (first["rows"], first["entries"], len(first["warnings"])) == (1, 2, 1)
    assert {band["threshold"]: band["by_chance"] for band in first["bands"]}[0.01] == 0.01
    row = json.loads(Path("out/b.jsonl").read_text())
    assert "text" not in row
    assert row["configuration"].startswith(("gumbel, key", "unigram, key"))
    assert b"all files" in ticore("detect", *arguments, "--workers", "1", "shards").out
    assert ticore("detect", *arguments, "--tokenizations", "search", "shards").status == 0
    searched = json.loads(Path("out/b.jsonl").read_text())
    assert searched.keys() == row.keys()
    entries = [{"scheme": name, "key": KEYS[0]} for name in ("gumbel", "unigram")]
    expected = library.WatermarkDetector.any(
        library.load_tokenizer("tiny-en"), entries, tokenizations="search"
    ).detect(TEXT)
    assert searched["strength"] == expected.best.detection.strength
    assert searched["p_value"] == expected.p_value


def test_detect_warns_of_a_list_of_keys_that_others_can_read(ticore: Ticore) -> None:
    Path("list.json").chmod(0o644)
    write_list([{"scheme": "gumbel", "key_file": "K"}])
    assert ticore("detect", "--config", "list.json", "plain").err == ""
    write_list([{"scheme": "gumbel", "key": KEYS[1].hex()}])
    assert "list.json holds a key" in ticore("detect", "--config", "list.json", "plain").err


@pytest.mark.parametrize(
    ("entries", "arguments", "status", "message"),
    [
        ([], (), 1, "list.json: configurations: expected at least one"),
        (3, (), 1, "list.json: expected a JSON list of configurations, or an object"),
        ([3], (), 1, "list.json: configuration 1: expected a scheme"),
        ([{"key_file": "K"}, {"key": "00"}], (), 1, "configuration 2: expected a key of 16 to 64"),
        ([{"key_file": "none"}], (), 1, "configuration 1: cannot read none"),
        ([{"key_file": 3}], (), 1, "configuration 1: key_file: expected the name of a file"),
        ([{"key_file": "K", "key": ""}], (), 1, "configuration 1: expected one of key, key_file"),
        ([{"agreement": "mark.json", "gamma": 1}], (), 1, "the agreement states gamma already"),
        ([{"key_file": "K"}], ("--gamma", "0.5"), 2, "--gamma: each configuration in list.json"),
        ([{"key_file": "K"}], ("--payload-bits", "32"), 2, "--payload-bits: each configuration"),
        ([{"key_file": "K"}], ("--column", "text"), 2, "ends in .jsonl, .jsonl.gz or .parquet"),
        ([{"key": "00"}], ("--column", "text"), 1, "configuration 1: expected a key of 16 to 64"),
    ],
)
def test_detect_says_what_is_wrong_with_a_list(
    ticore: Ticore, entries: object, arguments: tuple[str, ...], status: int, message: str
) -> None:
    write_list(entries)
    found = ticore("detect", "--config", "list.json", *arguments, "plain")
    assert (found.status, found.out) == (status, b"")
    assert message in found.err
