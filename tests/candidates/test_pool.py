"""Masses and integer weights of a pool."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.candidates import Pool, to_weights
from ticore.candidates._pool import _exponentials
from ticore.errors import SettingsError


@given(
    mass=st.lists(st.integers(0, 1 << 30), min_size=1, max_size=100),
    bits=st.integers(8, 32),
)
def test_to_weights_gives_positive_weights_that_sum_to_a_power_of_two(mass, bits):
    mass = np.array(sorted(mass, reverse=True))
    weights = to_weights(mass, bits)
    assert weights.min() >= 1
    assert weights.sum() == 1 << bits


def test_to_weights_does_not_overflow_for_a_large_vocabulary():
    mass = np.full(200_000, 1 << 30)
    weights = to_weights(mass, 32)
    assert weights.sum() == 1 << 32
    assert weights.min() >= 1


def test_pool_without_its_certain_token_keeps_distinct_probabilities():
    """Beside a token 40 nats above them the others have no mass; without it they have."""
    pool = Pool(np.array([1, 2, 3]), np.array([40, 1, 0]) << 10)
    assert pool.unnormalized_probs.tolist() == [1 << 30, 0, 0]
    left = pool.keep(np.array([False, True, True]))
    weights = to_weights(left.unnormalized_probs, 32) / 2**32
    assert weights == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)], abs=1e-8)


def test_to_weights_refuses_a_pool_too_large_for_its_bits():
    with pytest.raises(SettingsError, match="pool of 200 tokens needs weight_bits of at least 9"):
        to_weights(np.ones(200, dtype=np.int64), 8)


@pytest.mark.parametrize(("count", "least"), [(129, 9), (256, 9), (257, 10), (512, 10)])
def test_to_weights_names_the_fewest_bits_that_are_enough(count, least):
    with pytest.raises(SettingsError, match=f"weight_bits of at least {least}, found 8"):
        to_weights(np.ones(count, dtype=np.int64), 8)
    assert to_weights(np.ones(count, dtype=np.int64), least).sum() == 1 << least


def test_exponentials_are_exact_to_one_unit():
    for bits in (0, 4, 10):
        table = _exponentials(bits)
        assert table[0] == 1 << 30
        assert table[-1] == 0
        exact = [math.exp(-i / (1 << bits)) * (1 << 30) for i in range(len(table))]
        assert all(abs(a - math.floor(b)) <= 1 for a, b in zip(table.tolist(), exact, strict=True))
    assert _exponentials(10)[1024] == 395007542  # floor(2^30 / e)
