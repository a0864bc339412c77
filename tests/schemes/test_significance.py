"""p-values are what they claim: exact, uniform without a watermark, and unmoved by repetition."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from ticore.schemes import SCHEMES, Evidence, ExactGreens, Exponential, Greens

KEY = bytes(range(32))
SIZE = 2000
VARIANTS = [
    *((name, {}) for name in SCHEMES),
    *((name, {"greens": "exact"}) for name in ("left_hash", "self_hash", "unigram")),
    ("left_hash", {"gamma": 0.25}),
    ("unigram", {"gamma": 0.25, "greens": "exact"}),
]


def evidence(scores, seeds=None):
    count = np.arange(len(scores))
    seeds = count if seeds is None else np.array(seeds)
    return Evidence(count, seeds, count, np.array(scores, dtype=float))


def test_the_binomial_tail_by_hand():
    null = Greens(0.25, 0.5)
    assert null.p_value(evidence([1, 1, 1])) == pytest.approx(1 / 64)
    assert null.p_value(evidence([0, 0, 1])) == pytest.approx(1 - 27 / 64)
    assert null.p_value(evidence([0])) == 1
    assert null.strength(evidence([1, 1, 1, 0])) == pytest.approx((3 - 1) / math.sqrt(0.75))


def test_lists_that_hold_an_exact_number_by_brute_force():
    """Two lists of three of six tokens each; three tokens drawn from one and two from the other."""
    null = ExactGreens(0.5, 0.7, 3, 6)
    counts = [
        sum(greens)
        for a, b in product(range(2**6), repeat=2)
        if a.bit_count() == b.bit_count() == 3
        for greens in [[a & 1, a >> 1 & 1, a >> 2 & 1, b & 1, b >> 1 & 1]]
    ]
    for green in range(6):
        expected = sum(count >= green for count in counts) / len(counts)
        scores = [1] * green + [0] * (5 - green)
        assert null.p_value(evidence(scores, [7, 7, 7, 9, 9])) == pytest.approx(expected)


def test_the_gamma_tail():
    null = Exponential()
    assert null.p_value(evidence([2.0])) == pytest.approx(math.exp(-2))
    assert null.p_value(evidence([1.0, 1.0])) == pytest.approx(3 * math.exp(-2))
    assert null.p_value(evidence([])) == 1
    assert null.strength(evidence([1.0, 3.0])) == pytest.approx(4 / math.sqrt(2) - math.sqrt(2))


@pytest.mark.parametrize("null", [Greens(0.5, 0.7), ExactGreens(0.5, 0.7, 3, 6), Exponential()])
def test_no_scores(null):
    assert null.p_value(evidence([])) == 1
    assert math.isnan(null.strength(evidence([])))


@pytest.mark.parametrize("null", [Greens(0.5, 0.7), Greens(0.1, 0.4)])
def test_likelihood_ratios_of_greens_have_mean_one(null):
    green, red = np.exp(null.log_ratio(np.array([1.0, 0.0])))
    assert null.share * green + (1 - null.share) * red == pytest.approx(1)


def test_likelihood_ratios_of_exponential_scores_have_mean_one():
    grid = (np.arange(200_000) + 0.5) / 200_000
    scores = -np.log(1 - grid)
    assert np.exp(Exponential().log_ratio(scores)).mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("name", "settings"), VARIANTS)
@pytest.mark.parametrize("repetitive", [False, True])
def test_p_values_are_uniform_without_a_watermark(name, settings, repetitive):
    """Texts that nobody marked; also ones that say everything twenty times."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        key = rng.bytes(16)
        scheme = SCHEMES[name](key, SIZE, **settings)
        ids = rng.zipf(1.3, size=150) % SIZE
        if repetitive:
            ids = np.tile(ids[:40], 20)
        distinct = scheme.evidence(ids).distinct()
        found.append(_smoothed(scheme.null, distinct, rng))
    assert stats.kstest(found, "uniform").pvalue > 0.005


def _smoothed(null, given, rng):
    """The p-value; of counts, drawn between it and that of one more, which makes it continuous."""
    if isinstance(null, Exponential):
        return null.p_value(given)
    green = int(given.scores.sum())
    if green == len(given):
        return rng.uniform() * null.p_value(given)
    more = given.scores.copy()
    more[np.flatnonzero(more == 0)[0]] = 1
    above = null.p_value(Evidence(given.positions, given.seeds, given.draws, more))
    return above + rng.uniform() * (null.p_value(given) - above)
