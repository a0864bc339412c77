"""Tails of sums on a grid agree with integer arithmetic, to one part in a million."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ticore.schemes._evidence import BatchEvidence, Evidence
from ticore.schemes.external import TransformersSynthID
from ticore.schemes.external import _grid_null as table_bits
from ticore.schemes.external._grid_null import GridNull


def evidence_of(scores, seeds=None):
    scores = np.array(scores, float)
    places = np.arange(len(scores))
    return Evidence(places, places if seeds is None else np.array(seeds), places, scores)


def with_total(unit, count, total):
    """Evidence of that many scores with this total, in units."""
    each, more = divmod(total, count)
    return evidence_of((np.full(count, each) + (np.arange(count) < more)) / unit)


def exact_tails(ways, count):
    """float[count unit + 1]: for each total the probability of as much or more, by whole numbers.

    `ways` says how many of equally likely cases have each score.
    """
    sums = [1]
    for _ in range(count):
        longer = [0] * (len(sums) + len(ways) - 1)
        for at, one in enumerate(sums):
            for score, way in enumerate(ways):
                longer[at + score] += one * way
        sums = longer
    tails = np.cumsum(np.array(sums[::-1], object))[::-1]
    return [float(Fraction(int(tail), sum(ways) ** count)) for tail in tails]


@pytest.mark.parametrize("seeds", [[0, 1, 2, 3], [0, 0, 2, 3], [0, 1, 1, 1], [7, 7, 7, 7]])
def test_p_values_are_those_of_trying_everything(seeds):
    null = GridNull(np.array([0.3, 0.0, 0.45, 0.2, 0.05]))
    _, groups = np.unique(seeds, return_inverse=True)
    chance_of: dict[int, float] = {}
    for values in product(range(5), repeat=groups.max() + 1):
        total = sum(values[group] for group in groups)
        chance = math.prod(null.chances[value] for value in values)
        chance_of[total] = chance_of.get(total, 0) + chance
    for total in range(17):
        tail = sum(chance for other, chance in chance_of.items() if other >= total)
        scores = [min(4, total - 4 * place) / 4 if total > 4 * place else 0 for place in range(4)]
        assert null.p_value(evidence_of(scores, seeds)) == pytest.approx(tail, rel=1e-9)


def test_p_values_are_exact_when_they_are_small():
    null = GridNull(np.array([0.5, 0.5]))
    for ones in (150, 180, 200):
        evidence = evidence_of([1] * ones + [0] * (200 - ones))
        expected = stats.binom.sf(ones - 1, 200, 0.5)
        assert null.p_value(evidence) == pytest.approx(expected, rel=1e-6)
        assert null.strength(evidence) == pytest.approx((ones - 100) / math.sqrt(50))


def test_strength_with_repeated_seeds_is_the_sum_in_standard_deviations():
    """Two scores of one seed vary together: as one of twice their height."""
    evidence = evidence_of([1, 1, 0, 1], [7, 7, 8, 9])
    deviation = math.sqrt((2**2 + 1 + 1) / 4)
    assert GridNull(np.array([0.5, 0.5])).strength(evidence) == pytest.approx((3 - 2) / deviation)


@settings(max_examples=40, deadline=None)
@given(
    ways=st.lists(st.integers(0, 50), min_size=2, max_size=9).filter(lambda ways: sum(ways) > 0),
    count=st.integers(1, 40),
    part=st.floats(0, 1),
)
def test_p_values_agree_with_integer_arithmetic(ways, count, part):
    """Any chances, also where the highest or the lowest scores never occur."""
    null = GridNull(np.array(ways) / sum(ways))
    tails = exact_tails(ways, count)
    possible = [total for total, tail in enumerate(tails) if tail > 0]
    for total in {possible[0], possible[int(part * (len(possible) - 1))], possible[-1]}:
        p_value = null.p_value(with_total(null.unit, count, total))
        assert p_value == pytest.approx(tails[total], rel=1e-6, abs=0)


def test_p_values_are_exact_down_to_the_smallest_floats():
    ways = [5, 0, 3, 1, 0, 2]
    null = GridNull(np.array(ways) / sum(ways))
    tails = exact_tails(ways, 400)
    checked = 0
    for total in range(0, len(tails), 97):
        if tails[total] > 1e-300:
            p_value = null.p_value(with_total(5, 400, total))
            assert p_value == pytest.approx(tails[total], rel=1e-6, abs=0)
            checked += 1
    assert checked > 15
    assert tails[97 * (checked - 1)] < 1e-150


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "weighted"), [(30, True), (30, False), (9, True), (1, True)])
@pytest.mark.parametrize("count", [1, 3, 20, 65, 200, 401])
def test_p_values_agree_with_the_whole_distribution(layers, weighted, count):
    """The short way, by some frequencies of a wrapped transform, against the long one."""
    keys = np.random.default_rng(layers).integers(1, 1 << 62, layers).tolist()
    null = TransformersSynthID(keys, 5, weighted=weighted).null
    middle, deviation = null._mean * count, null._spread * math.sqrt(count)
    for beyond in (-7, -2, 0.1, 3, 9, 20) if count < 400 else (0.5, 5):
        total = round(min(max(middle + beyond * deviation, 0), count) * null.unit)
        found = null.p_value(with_total(null.unit, count, total))
        expected = null._tail_of_repeats(np.ones(count, np.int64), total)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-305)


@pytest.mark.slow
def test_p_values_do_not_need_the_whole_distribution(monkeypatch):
    """Which takes a hundred times as long."""
    monkeypatch.setattr(GridNull, "_tail_of_repeats", None)
    null = TransformersSynthID(list(range(90, 120)), 5).null
    for count in (2, 200, 1000):
        middle, deviation = null._mean * count, null._spread * math.sqrt(count)
        highest = np.flatnonzero(null.chances)[-1] / null.unit * count
        for beyond in np.linspace(-9, 30, 27):
            total = round(min(max(middle + beyond * deviation, 0), highest) * null.unit)
            assert 0 <= null.p_value(with_total(null.unit, count, total)) <= 1


def test_p_values_are_nearly_exact_when_long_texts_have_repeats(monkeypatch):
    null = TransformersSynthID(list(range(90, 99)), 5).null
    rng = np.random.default_rng(5)
    units = rng.choice(null.unit + 1, p=null.chances, size=1600)
    for lift in (-0.01, 0.0, 0.01, 0.02, 0.04):
        scores = np.rint(np.clip(units / null.unit + lift, 0, 1) * null.unit) / null.unit
        moved = evidence_of(scores, np.append(np.arange(1599), 0))
        exact = null.p_value(moved)
        with monkeypatch.context() as patch:
            patch.setattr(table_bits, "_MOST_EXACT", 0)
            assert null.p_value(moved) == pytest.approx(exact, rel=0.01)


def test_likelihood_ratios_have_mean_1():
    for layers in (1, 2, 30):
        null = TransformersSynthID(list(range(90, 90 + layers)), 5).null
        scores = evidence_of(np.arange(null.unit + 1) / null.unit)
        ratios = null.likelihood_ratios(BatchEvidence.of(scores))
        assert np.exp(ratios.logs) @ null.chances == pytest.approx(1)
        assert -ratios.logs @ null.chances == pytest.approx(ratios.losses)


def test_p_values_of_a_batch_are_those_of_each_text():
    null = GridNull(np.array([0.3, 0.0, 0.45, 0.2, 0.05]))
    rng = np.random.default_rng(3)
    texts = BatchEvidence(
        evidence_of(rng.integers(5, size=20) / 4, [0, 1, 2, 2, 1, 0, *range(14)]),
        np.array([0, 3, 6, 6, 13, 20]),
    )
    alone = [texts.text(at) for at in range(5)]
    assert null.p_values(texts).tolist() == [null.p_value(one) for one in alone]
    assert np.array_equal(
        null.strengths(texts), [null.strength(one) for one in alone], equal_nan=True
    )
