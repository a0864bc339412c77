"""Steps of batches are timed, and drawn; engines that are not installed are skipped."""

import json

import pytest

from benchmarks._harness.corpora import load_corpora
from benchmarks.verification import grammar_engines
from benchmarks.verification.__main__ import main
from benchmarks.verification.batches import time_batch
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError

MADE = []


class Counted:
    """A grammar engine that counts what it is asked for."""

    def __init__(self, tokenizer, rows):
        self.fills, self.pushes = 0, [0] * rows
        MADE.append(self)

    def fill(self):
        self.fills += 1

    def push(self, row, token):
        self.pushes[row] += 1


def absent(tokenizer, rows):
    raise ModuleNotFoundError("No module named 'xgrammar'")


def test_batches_are_timed_beside_engines_that_are_installed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(grammar_engines, "ENGINES", {"counted": Counted, "xgrammar": absent})
    MADE.clear()
    report, figure = tmp_path / "report.json", tmp_path / "figure.svg"
    arguments = ["--batches", "1", "3", "--steps", "4", "--json", str(report)]
    assert main([*arguments, "--plot", str(figure)]) == 0
    found = json.loads(report.read_text())
    assert found["skipped"] == {"xgrammar": "No module named 'xgrammar'"}
    rows = [(row["engine"], row["texts"], sorted(row["seconds"])) for row in found["batches"]]
    ours, all_kinds = "ticore, prefix", ["again", "first", "new", "push", "warm"]
    assert rows == [
        *((ours, size, all_kinds) for size in (1, 3)),
        *(("counted, JSON", size, ["again"]) for size in (1, 3)),
    ]
    assert [(engine.fills, engine.pushes) for engine in MADE] == [(4, [4]), (4, [4] * 3)]
    assert "<svg" in figure.read_text()
    shown = capsys.readouterr().out
    assert "later steps" in shown
    assert "new texts" in shown


def test_time_batch_refuses_a_tokenizer_without_tables():
    tokenizer = ToyTokenizer(["a", "b", "ab"])
    with pytest.raises(SettingsError, match="there are no tables for this tokenizer"):
        time_batch(tokenizer, "prefix", load_corpora([], None), 1, 2, 0)


@pytest.mark.parametrize("name", ["xgrammar", "llguidance"])
def test_grammar_engines_follow_texts_of_their_schema(name):
    pytest.importorskip(name, reason=f"{name} is not installed")
    found = dict(grammar_engines.time_grammar_engines(TRAINED["hf-gpt2"](), [2], 4, 0))
    assert found[name]["again"]["2"] > 0
