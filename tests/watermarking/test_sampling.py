"""Samplers follow the probabilities that they are given, in every array library."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import SettingsError
from ticore.schemes import SCHEMES
from ticore.watermarking import Warp, greedy, marked, multinomial
from ticore.watermarking.sampling import excluding, own_draws, probabilities

LOGITS = np.log([0.1, 0.4, 0.2, 0.3])


def kept(warp, logits=LOGITS):
    return np.flatnonzero(warp(logits) > -np.inf).tolist()


@pytest.mark.parametrize(
    ("warp", "expected"),
    [
        (Warp(), [0, 1, 2, 3]),
        (Warp(top_k=2), [1, 3]),
        (Warp(top_k=9), [0, 1, 2, 3]),
        (Warp(top_p=0.4), [1]),
        (Warp(top_p=0.41), [1, 3]),
        (Warp(top_p=0.85), [1, 2, 3]),
        (Warp(top_k=3, top_p=0.7), [1, 3]),
    ],
)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_what_a_warp_keeps(warp, expected, library):
    xp = pytest.importorskip(library)
    assert kept(lambda logits: np.asarray(warp(xp.asarray(logits))), LOGITS) == expected


def test_temperature():
    warped = probabilities(Warp(temperature=0.5)(LOGITS))
    np.testing.assert_allclose(warped, np.array([1, 16, 4, 9]) / 30)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"temperature": 0}, "temperature: expected a number above 0, found 0"),
        ({"temperature": float("inf")}, "temperature: expected"),
        ({"top_k": 0}, "top_k: expected at least 1"),
        ({"top_p": 0}, "top_p: expected above 0 and at most 1"),
        ({"top_p": 1.1}, "top_p: expected"),
    ],
)
def test_settings_out_of_range(settings, part):
    with pytest.raises(SettingsError, match=part):
        Warp(**settings)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_a_multinomial_sampler_follows_the_probabilities(library):
    xp = pytest.importorskip(library)
    logits, sample = xp.asarray(LOGITS), multinomial(random.Random(1))
    count = 300 if library == "jax.numpy" else 3000
    shares = np.bincount([sample([], logits) for _ in range(count)], minlength=4) / count
    assert np.abs(shares - np.exp(LOGITS)).max() < 4 / np.sqrt(count) / 2


class Fixed(random.Random):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def random(self):
        return self.value


@given(
    st.lists(st.sampled_from([-np.inf, -50.0, 0.0, 1.0, 80.0]), min_size=1, max_size=9),
    st.sampled_from([0.0, 0.3, 1 - 2**-24, 1 - 2**-53]),
    st.sampled_from([np.float32, np.float64]),
)
def test_what_cannot_come_never_does(values, drawn, kind):
    logits = np.array([*values, 0.0], dtype=kind)
    token = multinomial(Fixed(drawn))([], logits)
    assert 0 <= token < len(logits)
    assert probabilities(logits)[token] > 0


def test_the_likeliest_of_equals_is_the_first():
    assert greedy([], np.array([0.0, 2.0, 2.0])) == 1


@pytest.mark.parametrize("name", SCHEMES)
def test_a_token_without_enough_before_it_is_sampled_plainly(name):
    scheme = SCHEMES[name](bytes(16), 4)
    sampler = marked(scheme, random.Random(3), Warp(top_k=1))
    for length in range(7):
        assert sampler([0] * length, LOGITS) == 1


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_excluded_tokens_never_come(library):
    xp = pytest.importorskip(library)
    sample = excluding(greedy, [1, 3, 900])
    assert sample([], xp.asarray(LOGITS)) == 2
    assert excluding(greedy, []) is greedy


def test_each_row_has_random_numbers_of_its_own():
    draw = random.Random(3)
    first, second = own_draws(draw), own_draws(draw)
    numbers = [draws(row).random() for draws in (first, second) for row in range(50)]
    assert len(set(numbers)) == 100
    assert [own_draws(random.Random(3))(row).random() for row in range(50)] == numbers[:50]
