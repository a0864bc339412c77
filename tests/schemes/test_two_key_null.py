"""The tail of weighted sums of exponential scores: against closed forms, sums and simulation."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

from ticore.schemes import Evidence, ExponentialNull
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes._two_key_null import LEAST_WEIGHT, TwoKeyNull, null_of_two_keys


def evidence(scores):
    count = np.arange(len(scores))
    return Evidence(count, count, count, np.array(scores, dtype=float))


def test_null_of_two_keys_depends_on_the_larger_weight():
    assert null_of_two_keys(0.25) == null_of_two_keys(0.75) == TwoKeyNull(0.75)
    assert null_of_two_keys(LEAST_WEIGHT) == TwoKeyNull(1 - LEAST_WEIGHT)
    assert null_of_two_keys(0) == null_of_two_keys(1) == ExponentialNull()


@given(larger=st.floats(0.51, 0.999), total=st.floats(0, 60))
@example(larger=0.875, total=1.0)
def test_tail_of_one_score_is_that_of_two_exponentials(larger, total):
    """For unequal rates a and b: (a exp(-b s) - b exp(-a s)) / (a - b)."""
    a, b = 1 / (1 - larger), 1 / larger
    expected = (a * math.exp(-b * total) - b * math.exp(-a * total)) / (a - b)
    assert TwoKeyNull(larger).tail(total, 1) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(count=st.integers(1, 3000), total=st.floats(0.1, 2.0))
def test_tail_of_equal_weights_is_that_of_a_gamma_distribution(count, total):
    expected = special.gammaincc(2 * count, 2 * total * count)
    assert TwoKeyNull(0.5).tail(total * count, count) == pytest.approx(expected, rel=1e-9)


# Summed term by term with 60 digits (mpmath).
@pytest.mark.parametrize(
    ("larger", "total", "count", "expected"),
    [
        (0.9, 12, 7, 0.03393508988979481),
        (0.6, 60, 10, 1.1043743670762052e-27),
        (0.75, 40, 30, 0.016844202039047716),
        (0.9, 300, 200, 7.7525630249032e-12),
        (0.9, 500, 200, 7.5195195456159145e-62),
    ],
)
def test_tail_is_exact(larger, total, count, expected):
    assert TwoKeyNull(larger).tail(total, count) == pytest.approx(expected, rel=1e-9)


def convolved(larger, total, count):
    """The tail by integrating over the sum of one key's scores, in parts that get shorter towards
    both ends."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    closer = np.geomspace(total * 1e-9, total, 200)
    ends = np.unique([0.0, *closer, *(total - closer), *np.linspace(0, total, 200)])
    halves = np.diff(ends)[:, None] / 2
    left = ends[:-1, None] + halves * (1 + nodes)  # for the key of the smaller weight
    x = (total - left) / larger
    logs = special.xlogy(count - 1, x) - x - special.gammaln(count)
    tails = np.exp(logs) * special.gammaincc(count, left / (1 - larger)) / larger
    return float((tails * weights * halves).sum() + special.gammaincc(count, total / larger))


@pytest.mark.parametrize("count", [1, 2, 5, 30, 200, 2000])
@pytest.mark.parametrize(
    ("larger", "error"),
    [
        *((larger, 1e-9) for larger in (0.5000001, 0.6, 0.75, 0.9, 0.99)),
        pytest.param(0.9999, 1e-7, marks=pytest.mark.slow),
    ],
)
def test_tail_is_that_of_an_integral(larger, error, count):
    for mean in (1e-4, 0.01, 0.3, 1, 1.2, 2, 3, 20):
        expected = convolved(larger, mean * count, count)
        allowed = error if expected < 0.9 else max(error, 1e-4 * (larger > 0.99))
        found = TwoKeyNull(larger).tail(mean * count, count)
        assert found == pytest.approx(expected, rel=allowed, abs=1e-280)


@pytest.mark.parametrize("alpha", [1e-3, 1e-4])
@pytest.mark.parametrize("count", [1, 50, 20_000])
def test_tail_of_a_small_weight_is_close_to_that_without_it(alpha, count):
    total = count + 2 * math.sqrt(count)
    expected = special.gammaincc(count, total)
    assert TwoKeyNull(1 - alpha).tail(total, count) == pytest.approx(expected, rel=10 * alpha)


def test_tail_of_the_lowest_and_highest_sums():
    null = TwoKeyNull(0.9)
    assert null.tail(0.0, 5) == null.p_value(evidence([])) == 1
    assert null.tail(1e-9, 5) == pytest.approx(1, rel=1e-12)
    assert null.tail(1e5, 100) == 0
    assert 0 < null.tail(720.0, 20) < 1e-250


@pytest.mark.parametrize("larger", [0.5, 0.6, 0.75, 0.9, 0.99])
def test_tail_is_at_most_1(larger):
    """The terms are rounded, and so may sum to a little more."""
    for count in (1, 2, 5, 20, 100, 400):
        for total in (1e-9, 1e-3, 0.1):
            assert TwoKeyNull(larger).tail(total, count) <= 1


@example(larger=0.9375, count=5, seed=0)
@given(larger=st.floats(0.5, 0.99), count=st.integers(1, 40), seed=st.integers(0, 100))
def test_tail_falls_with_the_sum(larger, count, seed):
    sums = np.sort(np.random.default_rng(seed).uniform(0, 4 * count, size=8)).tolist()
    tails = [TwoKeyNull(larger).tail(total, count) for total in sums]
    assert all(one >= other * (1 - 1e-9) for one, other in pairwise(tails))


@pytest.mark.parametrize("larger", [0.5, 0.8, 0.95])
def test_p_values_of_texts_without_a_mark_are_uniform(larger):
    rng = np.random.default_rng(1)
    scores = rng.exponential(size=(2, 2000, 12))
    sums = (larger * scores[0] + (1 - larger) * scores[1]).sum(axis=1)
    p_values = np.sort([TwoKeyNull(larger).tail(total, 12) for total in sums])
    apart = np.abs(p_values - np.linspace(0, 1, len(p_values))).max()
    assert apart < 1.63 / math.sqrt(len(p_values))  # Kolmogorov, 1 %


def test_likelihood_ratios_have_a_mean_of_one_without_a_mark():
    rng, larger = np.random.default_rng(2), 0.9
    x, y = rng.exponential(size=(2, 400_000))
    scores = larger * x + (1 - larger) * y
    found = TwoKeyNull(larger).likelihood_ratios(BatchEvidence.of(evidence(scores)))
    assert np.exp(found.logs[0]).mean() == pytest.approx(1, abs=0.01)
    assert (found.losses > 0).all()
    assert found.losses == pytest.approx(-found.logs.mean(axis=1), abs=0.01)
    assert (np.diff(found.losses) > 0).all()


def test_strength_counts_standard_deviations():
    assert TwoKeyNull(0.75).strength(evidence([1.0, 2.0])) == pytest.approx(
        1 / math.sqrt(2 * (0.75**2 + 0.25**2))
    )
