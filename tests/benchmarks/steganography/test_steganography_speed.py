"""Speeds are measured beside a model of no cost, and of many texts with a real one."""

import json

import pytest

from benchmarks.steganography.free_model import FreeModel
from benchmarks.steganography.speed import main
from tests.support.toy_models import ToyTokenizer


@pytest.mark.slow
def test_the_command_writes_a_row_for_each_measurement(tmp_path, capsys):
    report = tmp_path / "report.json"
    assert main(["--texts", "2", "--bytes", "1", "--rounds", "1", "--json", str(report)]) == 0
    found = json.loads(report.read_text())
    assert [len(found[name]) for name in ("pools", "tokens")] == [6, 3]
    assert found["batch"]["ratio"] == found["batch"]["alone"] / found["batch"]["together"]
    assert "A pool, milliseconds" in capsys.readouterr().out


def test_free_model_gives_the_same_logits_in_one_pass():
    model = FreeModel(ToyTokenizer(["a", "b", "ab"]))
    decoder, rows = model.start([1]), model.score([1, 0, 2, 2])
    for token, row in zip([0, 2, 2], rows[1:], strict=True):
        assert decoder.logits().tolist() == row.tolist()
        decoder.push(token)
    decoder.rewind(1)
    assert list(decoder.ids) == [1, 0, 2]
