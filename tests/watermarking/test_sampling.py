"""Samplers follow the probabilities that they are given, in every array library."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import SettingsError
from ticore.schemes import SCHEMES, Gumbel
from ticore.watermarking import Warp, greedy, marked, multinomial
from ticore.watermarking.sampling import (
    comes_first,
    excluding,
    of_text,
    own_draws,
    probabilities,
    random_numbers,
)

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


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 6), st.integers(0, 10))
def test_whether_a_context_comes_first(ids, width, begin):
    windows = [ids[at : at + width] for at in range(begin, len(ids) - width + 1)]
    if windows:
        assert comes_first(ids, width, begin) == (windows[-1] not in windows[:-1])
        assert comes_first(tuple(ids), width, begin) == comes_first(ids, width, begin)


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 12))
def test_gumbel_marks_what_its_detector_counts(ids, begin):
    """A token decided by the key is one that counts in the text without its prompt; and back."""
    scheme, draw = Gumbel(bytes(range(16)), 4), random.Random(1)
    begin = min(begin, len(ids))
    sampler = of_text(excluding(marked(scheme, draw), [9]), begin)
    written = [*ids, 0]
    counted = scheme.evidence(written[begin:]).distinct().positions + begin
    for at in range(begin, len(written)):
        before = draw.getstate()
        token = sampler(written[:at], np.zeros(4))
        decided = draw.getstate() == before
        assert decided == (at in counted)
        if decided:
            context = written[at - scheme.context : at]
            assert token == int(np.argmax(scheme.bias(context, np.zeros(4))))


def test_the_first_version_of_gumbel_marks_every_context():
    draw = random.Random(1)
    sampler = of_text(marked(Gumbel(bytes(16), 4, version=1), draw), 3)
    before = draw.getstate()
    assert len({sampler([1] * length, np.zeros(4)) for length in range(5, 12)}) == 1
    assert draw.getstate() == before


def test_random_numbers_without_a_seed_are_those_of_no_generator():
    assert random_numbers(3).random() == random.Random(3).random()
    assert isinstance(random_numbers(None), random.SystemRandom)
