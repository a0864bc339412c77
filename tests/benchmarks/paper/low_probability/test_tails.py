"""Improbable tokens: counted as by hand, and expected as often as free samples have them."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.paper.low_probability.comparison import compared, p_value, ratio, verdict
from benchmarks.paper.low_probability.looking import Looker
from benchmarks.paper.low_probability.tails import (
    BOUNDS,
    Tails,
    log2_of_logits,
    log2_of_pool,
    masses_below,
)
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.candidates import Candidates, PoolSettings


def sampled(seed, count, steps=60, keep=lambda log2_p: log2_p):
    """The tails of texts that are sampled from random distributions, as `keep` cuts them."""
    rng, texts = np.random.default_rng(seed), []
    for _ in range(count):
        tails = Tails()
        for _ in range(steps):
            log2_p = log2_of_logits(rng.normal(size=300) * 4)
            shares = np.exp2(keep(log2_p))
            tails.add(log2_p, int(rng.choice(300, p=shares / shares.sum())))
        texts.append(tails.as_json())
    return texts


def test_masses_are_those_of_the_tokens_below_each_bound():
    rng = np.random.default_rng(1)
    log2_p = log2_of_logits(rng.normal(size=500) * 5)
    shares = rng.random(500)
    expected = [shares[log2_p < -bound].sum() for bound in BOUNDS]
    assert masses_below(log2_p, shares) == pytest.approx(expected)
    at_bound = np.array([-8.0, -12.0])
    assert masses_below(at_bound, np.ones(2)).tolist() == [1, 0, 0, 0, 0]  # 2^-8 is not below 2^-8
    assert np.exp2(log2_of_logits([0.0, -np.inf, 1.0])).sum() == pytest.approx(1)


@pytest.mark.slow
def test_free_samples_have_as_many_improbable_tokens_as_expected():
    found = [each for seed in range(25) for each in compared(sampled(seed, 8))]
    p_values = [each["p"] for each in found if each["expected"] > 1]
    assert len(p_values) >= 50
    assert np.mean(np.array(p_values) < 0.05) <= 0.05
    assert verdict(found).startswith(f"0 of {len(found)} differ")


def test_tokens_that_never_appear_are_missed():
    texts = sampled(3, 80, keep=lambda log2_p: np.where(log2_p < -12, -np.inf, log2_p))
    found = {each["bound"]: each for each in compared(texts)}
    assert found[12]["found"] == 0
    assert found[12]["ratio"]["high"] < 1
    assert found[12]["p"] < 1e-3
    assert "too few improbable tokens" in verdict(found.values())


def test_interval_and_test_are_those_of_a_poisson_number():
    found = ratio(7, 3.5)
    assert found["value"] == 2
    assert stats.poisson.sf(6, 3.5 * found["low"]) == pytest.approx(0.025)
    assert stats.poisson.cdf(7, 3.5 * found["high"]) == pytest.approx(0.025)
    assert p_value(7, 3.5) == pytest.approx(2 * stats.poisson.sf(6, 3.5))
    assert p_value(0, 5.0) == pytest.approx(2 * stats.poisson.cdf(0, 5.0))
    assert p_value(0, 0.0) == 1
    assert p_value(1, 0.0) == 0  # what has no probability was written
    assert ratio(1, 0.0) is None


def test_looker_counts_by_the_distribution_that_the_sampler_had():
    tokenizer = ToyTokenizer([chr(97 + n) for n in range(26)] + ["<end>"], special=[26])
    model = ToyModel(tokenizer, seed=4, sharpness=4.0, width=29, eos_ids=[26])
    prompt, ids = [0, 1], [3, 5, 8, 13, 20, 2, 0, 25]
    text = tokenizer.decode(prompt + ids)
    found = Looker(model).look(text, ids, 6)
    whole, pool, outside = Tails(), Tails(), 0
    candidates = Candidates(model, PoolSettings(top_k=6))
    for n, token in enumerate(ids):
        logits = model.logits_after(prompt + ids[:n])
        whole.add(log2_of_logits(logits[:26]), token)
        six = np.argsort(-logits[:26])[:6].tolist()
        assert candidates.pool(logits).ids.tolist() == six
        pool.add(log2_of_logits(logits[six]), six.index(token) if token in six else None)
        outside += token not in six
    assert found["whole"] == whole.as_json()
    assert found["pool"]["found"] == pool.as_json()["found"]
    assert found["pool"]["expected"] == pytest.approx(pool.as_json()["expected"], rel=1e-2)
    assert found["pool"]["outside"] == outside > 0
    assert "pool" not in Looker(model).look(text, ids, None)


def test_pool_probabilities_reach_below_those_of_the_pool_itself():
    model = ToyModel(ToyTokenizer(["a", "b", "c"]), width=3)
    pool = Candidates(model, PoolSettings(top_k=None)).pool(np.array([0.0, -30.0, -1.0]))
    assert pool.ids.tolist() == [0, 2, 1]
    assert pool.unnormalized_probs[2] == 0
    assert log2_of_pool(pool)[2] == pytest.approx(log2_of_logits([0.0, -30.0, -1.0])[1])
