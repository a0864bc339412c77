"""What a model says of a text, where its logits are known."""

import numpy as np
import pytest

from benchmarks._harness.text_statistics import of_logits, read_back, statistics
from ticore import load_model
from ticore.evaluation import perplexity


def test_statistics_of_known_logits():
    p = np.array([[0.5, 0.25, 0.25, 0.0], [0.9, 0.06, 0.0399, 0.0001]])
    with np.errstate(divide="ignore"):
        found = of_logits(np.log(p) + 3, [0, 3])
    assert found["tokens"] == 2
    assert found["nll"] == pytest.approx(-(np.log(0.5) + np.log(0.0001)) / 2)
    assert found["log_p_0"] == pytest.approx(np.log(0.0001))
    assert found["log_rank_mean"] == pytest.approx((0 + 2) / 2)
    assert (found["rank_above_1"], found["rank_above_4"]) == (0.5, 0.0)
    assert (found["rarer_than_0.001"], found["rarer_than_1e-05"]) == (0.5, 0.0)
    some = p[p > 0]
    assert found["entropy_mean"] == pytest.approx(-(some * np.log(some)).sum() / 2)


def test_free_samples_have_no_excess_on_average():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 50)) * 2
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    ids = [int(rng.choice(50, p=row)) for row in p]
    assert abs(of_logits(logits, ids)["excess_mean"]) < 0.1


def test_a_text_beyond_the_context_has_no_statistics():
    model = load_model("tiny-en", dtype="float32")
    ids = model.tokenizer.encode("The morning was cold")
    assert statistics(model, ids, ids) is not None
    assert statistics(model, ids * model.context_length, ids) is None


def test_a_text_that_is_read_back_is_scored_once():
    model = load_model("tiny-en", dtype="float64")
    prompt, text = "The morning was", "The morning was cold, and the sky grey"
    ids = model.tokenizer.encode(text)
    found = read_back(model, prompt, text)
    assert found["ppl"] == pytest.approx(perplexity(model, [], ids), rel=1e-12)
    before, read = ids[: -len(found["ids"])], found["ids"]
    assert model.tokenizer.decode(before + read) == text == prompt + found["text"]
    assert found["statistics"] == statistics(model, before, read)
    too_long = read_back(model, prompt, text * model.context_length)
    assert (too_long["statistics"], too_long["ppl"]) == (None, None)
