"""The survey: each tokenizer in a process of its own, none of them twice."""

import json

import pytest

from benchmarks._harness.tables import text_table, write_markdown
from benchmarks.verification import survey
from benchmarks.verification.__main__ import main
from benchmarks.verification.tokenizer_sources import tokenizer_sources, tokenizers_in
from tests.support.tokenizers import FRAGMENTS, TRAINED


@pytest.fixture
def folder(tmp_path):
    """Two tokenizers: one that is verified from tables, and one that cannot be opened."""
    good, damaged = tmp_path / "all" / "good", tmp_path / "all" / "damaged"
    good.mkdir(parents=True)
    damaged.mkdir()
    model = TRAINED["sp-unigram"]()._library.serialized_model_proto()
    (good / "small.model").write_bytes(model)
    (damaged / "tokenizer.json").write_text("{}")
    return tmp_path / "all"


@pytest.fixture
def command(tmp_path, folder):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(FRAGMENTS), encoding="utf-8")
    return [
        *("--survey", "--folder", folder, "--texts", texts, "--checks", 300),
        *("--out", tmp_path / "rows.jsonl", "--markdown", tmp_path / "table.md"),
    ]


def test_survey_measures_each_tokenizer_once(tmp_path, run, command, monkeypatch):
    first = run(main, *command)
    damaged, good = first.report["tokenizers"]
    assert (damaged["tokenizer"], good["tokenizer"]) == ("damaged", "good")
    assert "tokenizer.json" in damaged["refused"]
    assert (good["kind"], good["stopped"]) == ("unigram", "")
    assert {mode: one["method"] for mode, one in good["modes"].items()} == dict.fromkeys(
        ("prefix", "open", "viable"), "table"
    )
    assert good["soak"]["checks"] >= 300
    assert good["soak"]["checks"] > good["soak"]["beyond_prefix"] > 0
    assert good["soak"]["mismatches"] == 0
    assert {"new_token", "seen"} <= good["masks"].keys()
    written = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| good | unigram | table | table | table |" in written
    with monkeypatch.context() as patch:
        patch.setattr(survey, "measure", None)
        assert run(main, *command).report["tokenizers"] == first.report["tokenizers"]


def test_survey_stops_at_its_limit_and_goes_on_with_a_longer_one(tmp_path, run, command):
    command = [*command, "--tokenizer", "tiny-en"]
    stopped = run(main, *command, "--limit", 0.01).report["tokenizers"]
    assert all(row["stopped"] == "cold: took longer than 0.01 s" for row in stopped)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == len(stopped) == 3
    settings = {"seed": 0, "checks": 0, "data": None, "texts": []}
    (source,) = tokenizer_sources(["mine=sentencepiece:nowhere.model"], None)
    assert source.name == "mine"
    row = survey.measure(source, settings, tmp_path / "rows.jsonl", 600)
    assert "nowhere.model" in row["refused"]


def test_tokenizers_in_a_folder_are_named_after_their_own_folders(folder):
    ranks = folder / "ranks"
    ranks.mkdir()
    (ranks / "tokenizer.model").write_bytes(b"")
    (ranks / "pattern.txt").write_text("gpt2\n")
    (folder / "good" / "tokenizer.json").write_text("{}")
    (folder / "good" / "tokenizer_config.json").write_text("{}")
    assert list(tokenizers_in(folder)) == [
        f"damaged=tokenizers:{folder}/damaged/tokenizer.json",
        f"good tokenizers=tokenizers:{folder}/good/tokenizer.json",
        f"good sentencepiece=sentencepiece:{folder}/good/small.model",
        f"ranks=tiktoken:{folder}/ranks/tokenizer.model#gpt2",
    ]


def test_markdown_has_the_tables_with_rows(tmp_path):
    table = text_table("A title", ["name"], ["number"])
    table.add_row("a|b", "1")
    write_markdown(tmp_path / "folder" / "t.md", [table, text_table("empty", ["name"], [])])
    assert (tmp_path / "folder" / "t.md").read_text() == (
        "A title\n\n| name | number |\n| --- | ---: |\n| a\\|b | 1 |\n"
    )
