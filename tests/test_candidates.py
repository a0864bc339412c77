"""The pool: order, limits, integer weights, and what can never be a candidate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.models import ToyModel, ToyTokenizer
from ticore.candidates import (
    Candidates,
    Pool,
    PoolSettings,
    _exponentials,
    non_candidates,
    to_weights,
)
from ticore.errors import ModelError, SettingsError

TOKENIZER = ToyTokenizer(["", "a", "b", "ab", "c", "ca", "d", "e", "f", "g"], special=[4])
WIDTH = 12  # two logits more than tokens
WRITABLE = [1, 2, 3, 5, 6, 7, 8]  # not the empty 0, the special 4, the end token 9, the padding


def candidates(**settings):
    return Candidates(ToyModel(TOKENIZER, width=WIDTH, eos_ids={9}), PoolSettings(**settings))


logits = arrays(np.float64, WIDTH, elements=st.floats(-50, 50))


@given(logits=logits, k=st.one_of(st.none(), st.integers(1, 20)))
def test_top_k_is_the_first_k_by_rounded_value_then_id(logits, k):
    pool = candidates(top_k=k).pool(logits)
    rounded = np.rint(logits * 1024)
    expected = sorted(WRITABLE, key=lambda i: (-rounded[i], i))[:k]
    assert pool.ids.tolist() == expected
    assert (np.diff(pool.mass) <= 0).all()


@given(logits=logits, p=st.floats(0.01, 0.99))
def test_top_p_keeps_the_fewest_that_suffice(logits, p):
    everything = candidates(top_k=None).pool(logits)
    kept = candidates(top_k=None, top_p=p).pool(logits)
    share = everything.mass / everything.mass.sum()
    n = len(kept)
    assert kept.ids.tolist() == everything.ids[:n].tolist()
    assert share[:n].sum() >= p - 1e-8
    assert n == 1 or share[: n - 1].sum() < p + 1e-8


@given(logits=logits, temperature=st.floats(0.1, 5))
def test_weights_are_close_to_the_softmax(logits, temperature):
    pool = candidates(top_k=None, temperature=temperature).pool(logits)
    weights = to_weights(pool.mass, 32) / 2**32
    exact = np.exp((logits[pool.ids] - logits[pool.ids].max()) / temperature)
    assert np.abs(weights - exact / exact.sum()).max() < 2e-3  # half a grid step of 2^-10


@given(
    mass=st.lists(st.integers(0, 1 << 30), min_size=1, max_size=100),
    bits=st.integers(8, 32),
)
def test_weights_are_positive_and_sum_to_the_power(mass, bits):
    mass = np.array(sorted(mass, reverse=True))
    weights = to_weights(mass, bits)
    assert weights.min() >= 1
    assert weights.sum() == 1 << bits


def test_weights_of_a_large_vocabulary_do_not_overflow():
    mass = np.full(200_000, 1 << 30)
    weights = to_weights(mass, 32)
    assert weights.sum() == 1 << 32
    assert weights.min() >= 1


def test_a_pool_that_loses_its_certain_token_tells_the_others_apart():
    """Beside a token 40 nats above them the others have no mass; without it they have."""
    pool = Pool(np.array([1, 2, 3]), np.array([40, 1, 0]) << 10)
    assert pool.mass.tolist() == [1 << 30, 0, 0]
    left = pool.keep(np.array([False, True, True]))
    weights = to_weights(left.mass, 32) / 2**32
    assert weights == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)], abs=1e-8)


def test_a_pool_too_large_for_its_weights_is_refused():
    with pytest.raises(SettingsError, match="pool of 200 tokens needs weight_bits of at least 9"):
        to_weights(np.ones(200, dtype=np.int64), 8)


@given(logits=logits, noise=arrays(np.float64, WIDTH, elements=st.floats(-1e-9, 1e-9)))
def test_noise_below_the_grid_changes_nothing(logits, noise):
    snapped = np.rint(logits * 1024) / 1024
    left, right = (candidates(top_p=0.9).pool(x) for x in (snapped, snapped + noise))
    assert left.ids.tolist() == right.ids.tolist()
    assert left.mass.tolist() == right.mass.tolist()


@given(logits=logits, k=st.integers(1, 8))
def test_outside_goes_on_where_the_pool_ends(logits, k):
    source = candidates(top_k=k)
    pool = source.pool(logits)
    rest = [i for chunk in source.outside(logits, pool) for i in chunk.ids.tolist()]
    assert pool.ids.tolist() + rest == candidates(top_k=None).pool(logits).ids.tolist()


def test_the_table_of_exponentials_is_exact():
    for bits in (0, 4, 10):
        table = _exponentials(bits)
        assert table[0] == 1 << 30
        assert table[-1] == 0
        exact = [math.exp(-i / (1 << bits)) * (1 << 30) for i in range(len(table))]
        assert all(abs(a - math.floor(b)) <= 1 for a, b in zip(table.tolist(), exact, strict=True))
    assert _exponentials(10)[1024] == 395007542  # floor(2^30 / e)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_that_are_no_distribution(bad):
    with pytest.raises(ModelError, match="NaN or infinity"):
        candidates().pool(np.array([bad] + [0.0] * 11))


def test_minus_infinity_rules_a_token_out():
    logits = np.zeros(WIDTH)
    logits[[1, 6]] = -np.inf
    assert candidates(top_k=None).pool(logits).ids.tolist() == [2, 3, 5, 7, 8]


def test_non_candidates():
    assert np.flatnonzero(~non_candidates(TOKENIZER, {9, 11})).tolist() == WRITABLE


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0}, "temperature: expected a number above 0 and finite, found 0"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_k": 0}, "top_k: expected a whole number, at least 1, found 0"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"grid_bits": 13}, "grid_bits: expected a whole number, 0 to 12, found 13"),
        ({"weight_bits": 7}, "weight_bits"),
        ({"weight_bits": 33}, "weight_bits"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(SettingsError, match=message):
        PoolSettings(**settings)
