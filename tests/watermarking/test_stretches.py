"""Stretches: those that are likeliest together, all that are marked, and hardly any that is not."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ticore.schemes import BinomialNull, Evidence, ExponentialNull, HypergeometricNull
from ticore.schemes._evidence import BatchEvidence
from ticore.watermarking import Stretch
from ticore.watermarking._stretches import disjoint, find_stretches, likeliest_segments

GREENS = BinomialNull(0.5, 0.69)
LISTS = HypergeometricNull(0.5, 0.69, 5000, 10_000)
NULLS = pytest.mark.parametrize("null", [GREENS, LISTS, ExponentialNull()], ids=repr)


def evidence_of(scores, first=5):
    """Distinct draws; those of exact lists are from one list. The first tokens have no scores."""
    count = np.arange(len(scores))
    return Evidence(count + first, np.zeros_like(count), count, np.asarray(scores, float))


def unmarked(null, rng, length):
    if isinstance(null, ExponentialNull):
        return rng.exponential(size=length)
    if isinstance(null, HypergeometricNull):
        return rng.permutation(np.repeat([1.0, 0.0], 5000))[:length]
    return (rng.random(length) < null.share).astype(float)


def marked(null, rng, length):
    if isinstance(null, ExponentialNull):
        return rng.exponential(2.5, size=length)
    return (rng.random(length) < 0.85).astype(float)


def best_sum(logs, costs):
    """The highest sum of disjoint segments minus their costs, by trying all segments."""
    best = [0.0]
    for end in range(1, logs.shape[1] + 1):
        with_segment = [
            best[begin] + logs[k, begin:end].sum() - costs[k]
            for begin in range(end)
            for k in range(len(costs))
        ]
        best.append(max([best[-1], *with_segment]))
    return best[-1]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 9999), length=st.integers(0, 16), strengths=st.integers(1, 3))
def test_likeliest_segments_have_the_highest_sum(seed, length, strengths):
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(strengths, length))
    costs = rng.uniform(0.1, 3, size=strengths)
    found = likeliest_segments(logs, costs)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    total = sum((logs[:, begin:end].sum(axis=1) - costs).max() for begin, end in found)
    assert total == pytest.approx(best_sum(logs, costs))


@NULLS
def test_find_stretches_finds_each_marked_part(null):
    rng = np.random.default_rng(5)
    scores = unmarked(null, rng, 900)
    parts = [(100, 200), (400, 520), (700, 800)]
    for begin, end in parts:
        scores[begin:end] = marked(null, rng, end - begin)
    found = find_stretches(null, evidence_of(scores), 1e-3, configuration="k")
    assert len(found) == 3
    for one, (begin, end) in zip(found, parts, strict=True):
        shared = min(one.end, end + 5) - max(one.begin, begin + 5)
        assert shared > 0.8 * (end - begin)
        assert one.end - one.begin < 1.5 * (end - begin)
        assert one.p_value <= 1e-3
        assert one.configuration == "k"


def test_find_stretches_keeps_to_its_rate_beside_marked_parts():
    """The family-wise error: of 1,500 texts a tenth at most has a stretch without a marked token.

    Half of each text is marked, so the rest may use half of the rate.
    """
    rng = np.random.default_rng(3)
    for null in (GREENS, LISTS, ExponentialNull()):
        wrong = any_found = 0
        for _ in range(500):
            scores = unmarked(null, rng, 400)
            plain = find_stretches(null, evidence_of(scores, 0), 0.1)
            any_found += bool(plain)
            if null is not LISTS:  # whose marked draws would change what is left in the list
                scores[100:300] = marked(null, rng, 200)
            found = find_stretches(null, evidence_of(scores, 0), 0.1)
            wrong += any(one.end <= 100 or one.begin >= 300 for one in found)
        most = 50 + 3 * 50**0.5
        assert any_found <= most
        assert wrong <= most
        assert any_found > 0  # the test would see a rate of zero as right


def test_find_stretches_divides_the_rate_by_the_tests():
    rng = np.random.default_rng(4)
    scores = unmarked(GREENS, rng, 300)
    scores[100:200] = marked(GREENS, rng, 100)
    (one,) = find_stretches(GREENS, evidence_of(scores), 0.01)
    (other,) = find_stretches(GREENS, evidence_of(scores), 0.01, tests=50)
    assert (one.begin, one.end) == (other.begin, other.end)
    assert other.p_value == pytest.approx(50 * one.p_value)
    assert find_stretches(GREENS, evidence_of(scores), one.p_value / 2) == ()
    assert find_stretches(GREENS, evidence_of([]), 0.5) == ()


@pytest.mark.parametrize("after", [0, 20])
def test_find_stretches_ends_with_the_last_marked_token_that_counts(after):
    """Every other token repeats a draw, so it has no score. `after` unmarked ones follow."""
    scores = np.repeat([4.0, 0.0], [20, after])
    places = 3 + 2 * np.arange(len(scores))
    (found,) = find_stretches(ExponentialNull(), Evidence(places, places, places, scores), 1e-3)
    assert (found.begin, found.end) == (3, 3 + 2 * 19 + 1)


def test_find_stretches_takes_a_strength_that_fits_badly_as_no_evidence():
    """1 / p is the average F over the strengths, of which none has a sum below 0."""
    null, one = ExponentialNull(), evidence_of(np.full(400, 1.25), 0)
    (found,) = find_stretches(null, one, 1.0)
    ratios = null.likelihood_ratios(BatchEvidence.of(one))
    sums = ratios.logs[:, found.begin : found.end].sum(axis=1)
    assert sums.min() < 0 < sums.max()
    sums = np.maximum(sums, 0)
    assert 1 / found.p_value == pytest.approx(ratios.factors @ (np.exp(sums) - sums - 1) / 400)


def test_disjoint_keeps_the_first_of_those_that_overlap():
    one, other, third = Stretch(5, 9, 0.1), Stretch(8, 20, 0.2), Stretch(0, 5, 0.3)
    assert disjoint([one, other, third]) == (third, one)
    assert disjoint([other, one, third]) == (third, other)
