"""DiPmark keeps the model's probabilities on average, and marks the later half of each order."""

from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from ticore.errors import SettingsError
from ticore.schemes import DiPmark, make_scheme
from ticore.schemes._dipmark import reweighted
from ticore.watermarking._samplers import of_text, watermarked_sampler

KEY = bytes(range(32))
SIZE = 500


def softmax(logits):
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([-np.inf, -20.0, -1.0, 0.0, 0.3, 2.0]), min_size=1, max_size=5),
    st.sampled_from([0.01, 0.2, 0.3, 0.5]),
)
def test_mean_over_all_orders_is_the_distribution_of_the_model(logits, alpha):
    logits = np.array([*logits[1:], 0.5])
    orders = np.array(list(permutations(range(len(logits)))))
    found = reweighted(np.broadcast_to(logits, orders.shape), orders, alpha)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), np.exp(logits).sum(), rtol=1e-12)
    np.testing.assert_allclose(softmax(found).mean(axis=0), softmax(logits), rtol=0, atol=1e-14)


def test_reweighted_gives_the_paper_s_probabilities():
    """Of 0.2, 0.5, 0.3 in this order: below 0.3 nothing, 0.3 to 0.7 once, above 0.7 twice."""
    found = np.exp(reweighted(np.log([0.2, 0.5, 0.3]), np.array([0, 1, 2]), 0.3))
    np.testing.assert_allclose(found, [0, 0.4, 0.6], atol=1e-12)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_key_prefers_the_same_tokens_in_every_library(library):
    xp = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    scheme = DiPmark(KEY, SIZE, alpha=0.3)
    rng = np.random.default_rng(0)
    many, logits = rng.integers(0, SIZE, (3, 5)), rng.normal(size=(3, SIZE + 7)).astype(np.float32)
    alone = np.stack([scheme.bias(c.tolist(), row) for c, row in zip(many, logits, strict=True)])
    bias = pytest.importorskip("jax").jit(scheme.bias) if library == "jax" else scheme.bias
    found = np.asarray(bias(xp.asarray(many), xp.asarray(logits)))
    assert found.dtype == np.float32
    assert (found[:, SIZE:] == logits[:, SIZE:]).all()
    # The two tokens in which alpha and 1 - alpha lie depend on how a library rounds sums.
    different = ~np.isclose(found, alone, rtol=1e-6, atol=1e-6)
    assert (different.sum(axis=1) <= 2).all()
    np.testing.assert_allclose(softmax(found), softmax(alone), atol=1e-6)


def test_evidence_scores_the_tokens_that_are_made_likelier():
    scheme = DiPmark(KEY, SIZE)
    ids = np.random.default_rng(1).integers(0, SIZE, 60).tolist()
    evidence = scheme.evidence(ids)
    assert evidence.positions.tolist() == list(range(5, 60))
    for at, score in zip(evidence.positions.tolist(), evidence.scores, strict=True):
        assert (scheme.bias(ids[at - 5 : at], np.zeros(SIZE))[ids[at]] > 0) == score
    assert len(scheme.evidence(ids[:5])) == 0


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 12))
@settings(max_examples=30, deadline=None)
def test_only_first_contexts_are_marked(ids, begin):
    """Elsewhere the token is sampled from the logits as they are."""
    marked = []

    class Spied(DiPmark):
        def bias(self, context, logits):
            marked.append(len(before))
            return super().bias(context, logits)

    scheme, begin = Spied(KEY, 4, context=2), min(begin, len(ids))
    sampler = of_text(watermarked_sampler(scheme, Random(1)), begin)
    for at in range(begin, len(ids)):
        before = ids[:at]
        sampler(before, np.zeros(4))
    counted = scheme.evidence(ids[begin:]).distinct().positions + begin
    assert marked == counted.tolist()


def test_marked_texts_are_found_and_others_are_not():
    model = ticore.load_model("tiny-en")
    mark = ticore.Watermarker(model, "dipmark", key=KEY, seed=1, end_of_text=False)
    text = mark.generate("The weather in spring", max_new_tokens=200)
    assert text.consistent
    right = ticore.WatermarkDetector(model.tokenizer, "dipmark", key=KEY).detect(text.text)
    wrong = ticore.WatermarkDetector(model.tokenizer, "dipmark", key=KEY[::-1]).detect(text.text)
    assert right.verdict == "watermarked"
    assert right.ids.tolist() == list(text.ids)
    assert wrong.p_value > 0.001
    agreement = ticore.WatermarkAgreement.new("tiny-en", "dipmark", key=KEY)
    found = ticore.WatermarkDetector.any(model.tokenizer, [agreement]).detect(text.text)
    assert found.best.detection.p_value == right.p_value


@pytest.mark.parametrize("alpha", [0, 0.51, "x", float("nan")])
def test_alpha_out_of_range_is_refused(alpha):
    with pytest.raises(SettingsError, match="alpha: expected a number above 0"):
        make_scheme("dipmark", KEY, SIZE, alpha=alpha)
