"""The stretch's p-value: never too small, by trying everything; not much too large; and found."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ticore.schemes import BinomialNull, Evidence, ExponentialNull, HypergeometricNull
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes.external._grid_null import GridNull
from ticore.watermarking._segments import find_segments, least_p_values

GREENS = BinomialNull(0.5, 0.69)
LISTS = HypergeometricNull(0.5, 0.69, 2048, 4096)
BITS = GridNull(np.array([math.comb(30, ones) for ones in range(31)]) / 2**30)
SHARES = st.floats(0.05, 0.95)
# A reader may be told a strength that nobody could see.
LIFTS = st.floats(0.01, 0.95) | st.floats(0, 1e-3)


def evidence_of(scores, seeds=None):
    """Distinct draws, in a text whose first three tokens have no scores."""
    scores = np.array(scores, float)
    count = np.arange(len(scores))
    return Evidence(count + 3, count if seeds is None else np.array(seeds), count, scores)


def find_segment(null, evidence):
    return find_segments(null, BatchEvidence.of(evidence))[0]


def texts_of(scores, seeds=None):
    """Texts of equal lengths, float[texts, n], as one."""
    scores = np.asarray(scores, float)
    texts, length = scores.shape
    places = np.tile(np.arange(length), texts)
    seeds = places if seeds is None else np.tile(seeds, texts)
    all_of_them = Evidence(places, seeds, np.arange(scores.size), scores.ravel())
    return BatchEvidence(all_of_them, np.arange(texts + 1) * length)


def p_values(null, scores, seeds=None):
    return np.array([one.p_value for one in find_segments(null, texts_of(scores, seeds))])


def assert_never_too_small(found, chances):
    """Whatever rate is asked for, no more of the texts have a p-value as small."""
    order = np.argsort(found)
    below = np.cumsum(chances[order])
    last = np.append(np.diff(found[order]) > 0, True)
    assert (below[last] <= found[order][last] * (1 + 1e-9)).all()


@settings(max_examples=25, deadline=None)
@example(share=0.5, lift=1e-11, length=8)
@example(share=0.25, lift=1e-9, length=8)
@example(share=0.5, lift=0.0, length=4)
@given(share=SHARES, lift=LIFTS, length=st.integers(1, 11))
def test_segment_p_value_is_never_too_small_for_binomial_scores(share, lift, length):
    null = BinomialNull(share, share + lift * (1 - share))
    texts = np.array(list(product([0.0, 1.0], repeat=length)))
    green = texts.sum(axis=1)
    chances = share**green * (1 - share) ** (length - green)
    assert_never_too_small(p_values(null, texts), chances)


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(2, 14),
    data=st.data(),
    lift=LIFTS,
    seeds=st.lists(st.integers(0, 2), min_size=1, max_size=11),
)
def test_segment_p_value_is_never_too_small_for_exact_lists(size, data, lift, seeds):
    """Draws from up to three lists in any order; a list cannot give more than it has."""
    greens = data.draw(st.integers(1, size - 1))
    seeds = [seed for at, seed in enumerate(seeds) if seeds[:at].count(seed) < size]
    share = greens / size
    null = HypergeometricNull(share, share + lift * (1 - share), greens, size)
    texts, chances = [], []
    for text in product([0.0, 1.0], repeat=len(seeds)):
        chance = 1.0
        for at, seed in enumerate(seeds):
            earlier = [text[n] for n in range(at) if seeds[n] == seed]
            of_green = (greens - sum(earlier)) / (size - len(earlier))
            chance *= of_green if text[at] else 1 - of_green
        texts.append(text)
        chances.append(chance)
    assert math.isclose(sum(chances), 1)
    found = p_values(null, texts, seeds)
    possible = np.array(chances) > 0
    assert_never_too_small(found[possible], np.array(chances)[possible])


@settings(max_examples=15, deadline=None)
@given(chances=st.lists(st.floats(0.01, 1), min_size=2, max_size=4), length=st.integers(1, 6))
def test_segment_p_value_is_never_too_small_for_scores_on_a_grid(chances, length):
    chances = np.array(chances) / sum(chances)
    unit = len(chances) - 1
    values = np.array(list(product(range(unit + 1), repeat=length)))
    found = p_values(GridNull(chances), values / unit)
    assert_never_too_small(found, chances[values].prod(axis=1))


def test_segment_p_value_is_never_too_small_for_one_exponential_score():
    """What one score has to be for a p-value of 1 in ten, a hundred, ...: e to the minus that."""
    for rate in 10.0 ** -np.arange(1, 9):
        low, high = 0.0, 60.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            p_value = find_segment(ExponentialNull(), evidence_of([middle])).p_value
            low, high = (low, middle) if p_value <= rate else (middle, high)
        assert math.exp(-high) <= rate


def unmarked(null, rng, texts, length):
    """float[texts, length] scores without a watermark."""
    if isinstance(null, ExponentialNull):
        return rng.exponential(size=(texts, length))
    if isinstance(null, GridNull):
        return rng.binomial(30, 0.5, size=(texts, length)) / 30
    if isinstance(null, HypergeometricNull):  # one list gives all
        one = np.repeat([1.0, 0.0], [null.greens, null.size - null.greens])
        return np.array([rng.permutation(one)[:length] for _ in range(texts)])
    return (rng.random((texts, length)) < null.share).astype(float)


def seeds_of(null, length):
    return np.zeros(length, np.int64) if isinstance(null, HypergeometricNull) else np.arange(length)


NULLS = pytest.mark.parametrize("null", [GREENS, LISTS, ExponentialNull(), BITS], ids=repr)


@pytest.mark.slow
@NULLS
def test_segment_p_value_is_at_most_a_few_times_too_large(null):
    """Of a hundred texts without a watermark the least p-value is some 1 %, and not 20 or 100 %."""
    rng = np.random.default_rng(7)
    found = np.sort(p_values(null, unmarked(null, rng, 2000, 1000), seeds_of(null, 1000)))
    assert 0.01 * 0.6 < found[20] < 0.05
    assert 0.1 * 0.8 < found[200] < 0.4


@NULLS
def test_find_segments_finds_a_marked_tenth_of_a_text(null):
    """100 marked tokens of 1,000, at the rate that detectors have if nobody says: 1e-5, halved."""
    rng = np.random.default_rng(8)
    scores = unmarked(null, rng, 1000, 1000)
    marked = scores[:, 450:550]
    if isinstance(null, BinomialNull):
        marked[:] = rng.random(marked.shape) < 0.8
    elif isinstance(null, ExponentialNull):
        marked *= 1.85
    else:
        marked[:] = rng.binomial(30, 0.57, size=marked.shape) / 30
    found = find_segments(null, texts_of(scores, seeds_of(null, 1000)))
    assert np.mean([one.p_value <= 5e-6 for one in found]) >= 0.7
    seen = [one for one in found if one.p_value <= 5e-6]
    shared = [min(one.end, 550) - max(one.begin, 450) for one in seen]
    assert np.median(shared) > 80
    assert np.median([one.end - one.begin for one in seen]) < 130


def defined(null, evidence):
    """The p-value and the stretch, written out."""
    ratios = null.likelihood_ratios(BatchEvidence.of(evidence))
    length = len(evidence)
    best, stretch = 0.0, (0, 0)
    begins, sums = [0] * len(ratios.losses), [0.0] * len(ratios.losses)
    for at in range(length):
        parts = []
        for k, loss in enumerate(ratios.losses):
            sums[k] += ratios.logs[k, at]
            if sums[k] <= 0:
                sums[k], begins[k] = 0.0, at + 1
            parts.append(ratios.excess[k] * (math.exp(sums[k]) - sums[k] - 1) / (length * loss))
        if np.mean(parts) > best * (1 + 1e-9):
            best, stretch = np.mean(parts), (begins[int(np.argmax(parts))], at + 1)
    return min(1.0, 1 / best if best else 1.0), stretch


@settings(max_examples=60, deadline=None)
@given(data=st.data(), null=st.sampled_from([GREENS, LISTS, ExponentialNull(), BITS]))
def test_find_segment_agrees_with_the_definition(data, null):
    length = data.draw(st.integers(1, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    scores = np.minimum(unmarked(null, rng, 1, length)[0] * rng.choice([1, 1, 3], length), 9)
    scores = scores if isinstance(null, ExponentialNull) else np.minimum(scores, 1)
    evidence = evidence_of(scores, rng.integers(0, 3, length))
    found = find_segment(null, evidence)
    p_value, (begin, end) = defined(null, evidence)
    assert found.p_value == pytest.approx(p_value, rel=1e-6)
    if begin < end:
        assert (found.begin, found.end) == (begin + 3, end + 3)
    else:
        assert (found.begin, found.end) == (0, 0)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), null=st.sampled_from([GREENS, ExponentialNull(), BITS]))
def test_segment_p_value_never_rises_when_a_score_rises(data, null):
    length = data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    scores = unmarked(null, rng, 1, length)[0]
    higher = scores.copy()
    higher[data.draw(st.integers(0, length - 1))] = 1.0 if null != ExponentialNull() else 20.0
    higher = np.maximum(scores, higher)
    before, after = p_values(null, [scores])[0], p_values(null, [higher])[0]
    assert 0 < after <= before * (1 + 1e-9)
    assert before <= 1


def test_find_segment_works_when_the_likelihood_ratio_overflows():
    """Whose likelihood ratio is no float: the stretch is still the whole of it."""
    for null, score in ((GREENS, 1.0), (ExponentialNull(), 4.0), (BITS, 0.9)):
        scores = np.full(20_000, score)
        scores[:100] = 0
        segment = find_segment(null, evidence_of(scores))
        assert (segment.begin, segment.end, segment.p_value) == (103, 20_003, 0.0)


def test_find_segments_gives_p_value_1_when_a_text_has_no_scores():
    texts = BatchEvidence(evidence_of([1.0] * 30), np.array([0, 0, 30, 30]))
    none, one, other = find_segments(GREENS, texts)
    assert none == other
    assert (none.begin, none.end, none.p_value) == (0, 0, 1.0)
    assert one == find_segment(GREENS, evidence_of([1.0] * 30))
    assert one.p_value < 1e-4


@pytest.mark.parametrize("null", [GREENS, ExponentialNull()], ids=repr)
def test_least_p_values_are_no_higher_and_hardly_lower(null):
    """Of unmarked texts and of strongly marked ones, whose sums are rounded the most."""
    rng = np.random.default_rng(9)
    scores = unmarked(null, rng, 200, 300)
    scores[100:] = np.where(rng.random((100, 300)) < 0.9, 1.0, scores[100:])
    exact = p_values(null, scores)
    bounds = least_p_values(null, scores.T, None)
    assert (bounds <= exact).all()
    assert (bounds[:100] > exact[:100] / 3).all()
    counted = np.ones(scores.T.shape, np.bool_)
    counted[250:] = False
    kept = least_p_values(null, scores.T, counted)
    assert (kept <= p_values(null, scores[:, :250])).all()
    assert least_p_values(null, scores.T[:0], None).tolist() == [1.0] * 200


def test_a_segment_has_the_p_value_computed_by_hand():
    """Usual odds of 3 to 1 in marked text: strengths of 3^0.7, 3^1.2 and 3^2 to 1."""
    null = BinomialNull(0.5, 0.75)
    odds = [3**0.7, 3**1.2, 3**2]
    green = [math.log(2 * one / (one + 1)) for one in odds]
    loss = [-(math.log(2 * one / (one + 1)) + math.log(2 / (one + 1))) / 2 for one in odds]
    count = np.arange(8)
    scores = np.array([0, 0, 1, 1, 1, 1, 0, 0], dtype=float)
    segment = find_segment(null, Evidence(count + 3, count, count, scores))
    assert (segment.begin, segment.end) == (5, 9)
    parts = [
        (math.exp(4 * g) - 4 * g - 1) / (8 * lost) for g, lost in zip(green, loss, strict=True)
    ]
    assert segment.p_value == pytest.approx(3 / sum(parts))
    scores = np.ones(40)
    count = np.arange(40)
    segment = find_segment(null, Evidence(count, count, count, scores))
    parts = [
        (math.exp(40 * g) - 40 * g - 1) / (40 * lost) for g, lost in zip(green, loss, strict=True)
    ]
    assert segment.p_value == pytest.approx(3 / sum(parts))
    nothing = find_segment(ExponentialNull(), Evidence(count, count, count, np.zeros(40)))
    assert (nothing.begin, nothing.end, nothing.p_value) == (0, 0, 1.0)
