"""The benchmark of the embedded model."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import embedded
from tests.support.toy_models import ToyModel, ToyTokenizer
from training.corpora import Corpus
from training.recipes import RECIPES

MODEL = ToyModel(ToyTokenizer(["", "a", "b", "é"]), seed=1)


@pytest.mark.parametrize("text", ["abébabé", "abébab"])
def test_cross_entropy_is_that_of_full_windows(monkeypatch, text):
    """There are two, and perhaps a token beside them."""
    monkeypatch.setattr(embedded, "WINDOW", 3)
    bits, size = embedded.cross_entropy(MODEL, text)
    expected = 0.0
    for window in ([1, 2, 3], [2, 1, 2]):
        for n, token in enumerate(window):
            logits = MODEL.logits_after(window[:n])
            expected += math.log2(np.exp(logits).sum()) - logits[token] / math.log(2)
    assert bits == pytest.approx(expected)
    assert size == len("abébab".encode())


def test_embedded_shows_speed_prediction_and_texts(tmp_path, run, monkeypatch):
    monkeypatch.setattr(embedded, "WINDOW", 8)
    novels = ["It was a cold morning, and nobody in the village had ever seen the sea. " * 2]
    recipe = replace(RECIPES["tiny-en"], load=lambda _: Corpus([], novels))
    monkeypatch.setitem(embedded.RECIPES, "tiny-en", recipe)
    sizes = ["--tokens", 2, "--timed-tokens", 3, "--characters", 100]
    found = run(embedded.main, *sizes, "--corpus", tmp_path)
    assert found.status == 0
    assert min(found.report["tokens_per_second"].values()) > 0
    assert found.report["products_per_second"].keys() == {"float32", "float64"}
    assert 1 < found.report["bits_per_byte"] < 8
    assert found.report["texts"][0].startswith("The morning was cold and")
    assert "Held-out texts" in found.printed


def test_embedded_writes_its_report_where_the_earlier_option_says(tmp_path, capsys):
    file = tmp_path / "a.json"
    sizes = ["--tokens", "1", "--timed-tokens", "2"]
    assert embedded.main([*sizes, "--out", str(file)]) == 0
    assert "bits_per_byte" in file.read_text()
    assert "Held-out texts" not in capsys.readouterr().out
