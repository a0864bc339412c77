"""p-values are exact, uniform without a watermark, and not changed by repetition."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ticore.schemes import SCHEMES, BinomialNull, Evidence, ExponentialNull, HypergeometricNull
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes._null_distributions import usual_marked_share

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


def test_usual_marked_share_is_half_way_to_that_of_a_flat_distribution():
    logits = np.zeros(400)
    logits[:100] += 2.0  # a quarter of the tokens
    shares = np.exp(logits) / np.exp(logits).sum()
    assert usual_marked_share(0.25, 2.0) == pytest.approx((0.25 + shares[:100].sum()) / 2)
    assert usual_marked_share(0.25, 0.0) == 0.25
    assert usual_marked_share(0.25, 1e300) == (0.25 + 1) / 2


def test_binomial_p_value_is_the_tail_computed_by_hand():
    null = BinomialNull(0.25, 0.5)
    assert null.p_value(evidence([1, 1, 1])) == pytest.approx(1 / 64)
    assert null.p_value(evidence([0, 0, 1])) == pytest.approx(1 - 27 / 64)
    assert null.p_value(evidence([0])) == 1
    assert null.strength(evidence([1, 1, 1, 0])) == pytest.approx((3 - 1) / math.sqrt(0.75))


def test_hypergeometric_p_value_is_that_of_trying_everything():
    """Two lists of three of six tokens each; three tokens drawn from one and two from the other."""
    null = HypergeometricNull(0.5, 0.7, 3, 6)
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


def test_hypergeometric_p_value_is_exact_when_more_tokens_are_drawn_than_are_green():
    null = HypergeometricNull(0.25, 0.4, 3, 12)
    for green in range(4):
        scores = [1] * green + [0] * (6 - green)
        expected = stats.hypergeom.sf(green - 1, 12, 3, 6)
        assert null.p_value(evidence(scores, [7] * 6)) == pytest.approx(expected)


def test_hypergeometric_p_value_is_at_most_1():
    """The probabilities of all counts are rounded, and so may sum to a little more."""
    null = HypergeometricNull(0.25, 0.4, 25, 100)
    for lists in range(1, 9):
        seeds = np.repeat(np.arange(lists), 3)
        assert null.p_value(evidence(np.zeros(len(seeds)), seeds)) <= 1


def test_exponential_p_value_is_the_tail_of_the_gamma_distribution():
    null = ExponentialNull()
    assert null.p_value(evidence([2.0])) == pytest.approx(math.exp(-2))
    assert null.p_value(evidence([1.0, 1.0])) == pytest.approx(3 * math.exp(-2))
    assert null.p_value(evidence([])) == 1
    assert null.strength(evidence([1.0, 3.0])) == pytest.approx(4 / math.sqrt(2) - math.sqrt(2))


@pytest.mark.parametrize(
    "null", [BinomialNull(0.5, 0.7), HypergeometricNull(0.5, 0.7, 3, 6), ExponentialNull()]
)
def test_null_gives_p_value_1_when_there_are_no_scores(null):
    assert null.p_value(evidence([])) == 1
    assert math.isnan(null.strength(evidence([])))


@pytest.mark.parametrize("null", [BinomialNull(0.5, 0.7), BinomialNull(0.1, 0.4)])
def test_binomial_likelihood_ratios_have_mean_1(null):
    ratios = null.likelihood_ratios(BatchEvidence.of(evidence([1.0, 0.0])))
    chances = np.array([null.share, 1 - null.share])
    assert np.exp(ratios.logs) @ chances == pytest.approx(1)
    assert -ratios.logs @ chances == pytest.approx(ratios.losses)


def test_exponential_likelihood_ratios_have_mean_1():
    nodes, weights = np.polynomial.laguerre.laggauss(80)
    ratios = ExponentialNull().likelihood_ratios(BatchEvidence.of(evidence(nodes)))
    assert np.exp(ratios.logs) @ weights == pytest.approx(1, abs=1e-6)
    assert -ratios.logs @ weights == pytest.approx(ratios.losses)
    # Where some score is just enough, those as high exceed it by this on average.
    rates = (ratios.logs[:, 1:2] - ratios.logs[:, :1]) / (nodes[1] - nodes[0])
    assert np.exp(rates * nodes) @ weights == pytest.approx(ratios.excess, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 12), data=st.data())
def test_hypergeometric_likelihood_ratios_have_mean_1_after_any_draws(size, data):
    """Of the tokens of a list that are left each may come next; the list's share is green at last.

    The loss, which is largest before the first draw or later, is on average at most what is said.
    """
    greens = data.draw(st.integers(1, size - 1))
    null = HypergeometricNull(greens / size, 0.5 + 0.5 * greens / size, greens, size)
    texts = data.draw(
        st.lists(st.permutations([1.0] * greens + [0.0] * (size - greens)), min_size=1, max_size=3)
    )
    seeds = data.draw(st.permutations([at for at, text in enumerate(texts) for _ in text]))
    left = [list(text) for text in texts]
    scores = [left[seed].pop(0) for seed in seeds]
    for at, seed in enumerate(seeds):
        earlier = [
            score for score, other in zip(scores[:at], seeds[:at], strict=True) if other == seed
        ]
        chance = (greens - sum(earlier)) / (size - len(earlier))
        ratios = [
            null.likelihood_ratios(
                BatchEvidence.of(evidence([*scores[:at], score], seeds[: at + 1]))
            ).logs[:, -1]
            for score in (1, 0)
        ]
        mean = chance * np.exp(ratios[0]) + (1 - chance) * np.exp(ratios[1])
        assert mean == pytest.approx(np.ones(3))
        if not earlier:
            loss = -chance * ratios[0] - (1 - chance) * ratios[1]
            assert loss == pytest.approx(
                null.likelihood_ratios(BatchEvidence.of(evidence([]))).losses
            )


@pytest.mark.parametrize(
    "null", [BinomialNull(0.5, 0.7), HypergeometricNull(0.5, 0.7, 30, 60), ExponentialNull()]
)
def test_null_gives_each_text_of_a_batch_what_it_gives_it_alone(null):
    rng = np.random.default_rng(2)
    bounds = np.array([0, 0, 7, 8, 8, 20, 32])
    scores = rng.exponential(size=32) if null == ExponentialNull() else rng.integers(2, size=32)
    texts = BatchEvidence(evidence(scores, rng.integers(3, size=32)), bounds)
    alone = [texts.text(at) for at in range(6)]
    assert null.p_values(texts).tolist() == [null.p_value(one) for one in alone]
    assert np.array_equal(
        null.strengths(texts), [null.strength(one) for one in alone], equal_nan=True
    )
    ratios = [null.likelihood_ratios(BatchEvidence.of(one)).logs for one in alone]
    assert (null.likelihood_ratios(texts).logs == np.concatenate(ratios, axis=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), VARIANTS)
@pytest.mark.parametrize("repetitive", [False, True])
def test_p_values_are_uniform_when_there_is_no_watermark(name, options, repetitive):
    """Texts that nobody marked; also ones that say everything twenty times."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        key = rng.bytes(16)
        scheme = SCHEMES[name](key, SIZE, **options)
        ids = rng.zipf(1.3, size=150) % SIZE
        if repetitive:
            ids = np.tile(ids[:40], 20)
        distinct = scheme.evidence(ids).distinct()
        found.append(_smoothed(scheme.null, distinct, rng))
    assert stats.kstest(found, "uniform").pvalue > 0.005


def _smoothed(null, given, rng):
    """The p-value; of counts, drawn between it and that of one more, which makes it continuous."""
    if isinstance(null, ExponentialNull):
        return null.p_value(given)
    green = int(given.scores.sum())
    if green == len(given):
        return rng.uniform() * null.p_value(given)
    more = given.scores.copy()
    more[np.flatnonzero(more == 0)[0]] = 1
    above = null.p_value(Evidence(given.positions, given.seeds, given.draw_ids, more))
    return above + rng.uniform() * (null.p_value(given) - above)
