"""A scan for a list of configurations writes what the detector of the list finds in each row."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import ticore
from ticore.corpus import AnyResult, AnyTask, Scan, scan
from ticore.errors import SettingsError

KEYS = [bytes([number] * 32) for number in range(8)]
AGREED = ticore.WatermarkAgreement.new("tiny-en", "unigram", key=KEYS[7])
TASK = AnyTask(
    "tiny-en",
    (
        {"scheme": "gumbel", "key": KEYS[:7]},
        {"scheme": "left_hash", "key": KEYS[0], "name": "mine"},
        AGREED,
    ),
)
WORDS = ["it", "was", "a", "cold", "morning", "and", "nobody", "had", "thought", "of", "wood"]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    model = ticore.load_model("tiny-en")
    writer = ticore.Watermarker(model, "gumbel", key=KEYS[3], seed=1)
    marked = writer.generate("It was", max_new_tokens=40).text
    return [*(" ".join(WORDS[n % 7 :] * 2) for n in range(6)), marked]


@pytest.fixture
def given(tmp_path: Path, texts: list[str]) -> Scan:
    rows = [{"text": text} for text in [*texts, None, "a"]]
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Scan(source, "text", tmp_path / "out.jsonl", batch_size=2)


def test_rows_have_the_best_configuration(given: Scan, texts: list[str]) -> None:
    found = scan(given, TASK, workers=1)
    # "a" is too short for all but unigram, which needs no context.
    assert (found.rows, found.watermarked, found.without, found.errors) == (9, 1, 7, 1)
    written = [json.loads(line) for line in given.output.read_text().splitlines()]
    detector = TASK.open()
    for text, row in zip(texts, written, strict=False):
        expected = detector.detect(text)
        assert row == {"text": text, **AnyResult.of(expected)._asdict()}
        assert row["configuration"] == expected.best.name
        assert (row["verdict"], row["p_value"]) == (expected.verdict, expected.p_value)
    assert (written[6]["found"], written[6]["looked_for"]) == (1, "gumbel, version 2")
    assert written[6]["configuration"] == detector.names[3]
    assert "expected text, found null" in written[7]["error"]


def test_fractions_are_settings_as_floats_are(given: Scan) -> None:
    task = replace(
        TASK,
        fpr=Fraction(1, 100_000),
        configurations=({"scheme": "gumbel", "key": KEYS[3], "gamma": Fraction(1, 4)},),
    )
    with pytest.raises(SettingsError, match="gamma"):
        scan(given, task, workers=1)
    listed = ({"scheme": "left_hash", "key": KEYS[3], "gamma": Fraction(1, 4)},)
    assert scan(given, replace(task, configurations=listed), workers=1).rows == 9


@pytest.mark.parametrize("wrong", [None, 5, ["gumbel", None]])
def test_scheme_without_a_name_is_refused_in_words(given: Scan, wrong: object) -> None:
    task = replace(TASK, configurations=({"scheme": wrong, "key": KEYS[0]},))
    with pytest.raises(SettingsError, match="configuration 1: scheme: expected"):
        scan(given, task, workers=1)


def test_keys_decide_which_saved_results_are_used(given: Scan) -> None:
    assert TASK.secret() == replace(TASK, configurations=TASK.configurations).secret()
    others = (*TASK.configurations[:2], replace(AGREED, key=KEYS[0]))
    assert TASK.secret() != replace(TASK, configurations=others).secret()
    assert KEYS[1].hex() not in repr(TASK) + json.dumps(TASK.public_settings())
    assert pickle.loads(pickle.dumps(TASK)) == TASK


def test_search_is_part_of_what_names_a_scan() -> None:
    plain = {"any": 1, "tokenizer": "tiny-en", "fpr": 1e-5, "repeats": "once"}
    assert TASK.public_settings() == plain  # so results that are saved already are used
    searching = replace(TASK, tokenizations="search")
    assert searching.public_settings() == plain | {"tokenizations": "search"}


def test_search_adds_no_columns_and_gives_the_searched_p_values(given: Scan) -> None:
    scan(given, TASK, workers=1)
    read = [json.loads(line) for line in given.output.read_text().splitlines()]
    searching = replace(TASK, tokenizations="search")
    scan(given, searching, workers=1)
    rows = [json.loads(line) for line in given.output.read_text().splitlines()]
    detector = searching.open()
    for plain, row in zip(read, rows, strict=True):
        assert list(plain) == list(row)
        if row["error"] is None:
            expected = detector.detect(row["text"])
            assert row == {"text": row["text"], **AnyResult.of(expected)._asdict()}
    assert rows[6]["verdict"] == "watermarked"
    assert read[6]["p_value"] != rows[6]["p_value"] <= 2 * read[6]["p_value"] * (1 + 1e-9)


@pytest.mark.slow
def test_workers_write_what_one_process_writes(given: Scan) -> None:
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    scan(given, TASK, workers=2)
    assert given.output.read_bytes() == expected
