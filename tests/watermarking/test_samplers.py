"""Samplers follow the probabilities that they are given, in every array library."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import ModelError, SettingsError
from ticore.schemes import SCHEMES, Gumbel
from ticore.schemes._probabilities import probabilities
from ticore.watermarking import LogitsWarper, greedy, multinomial, watermarked_sampler
from ticore.watermarking._samplers import excluding, is_first_occurrence, of_text

LOGITS = np.log([0.1, 0.4, 0.2, 0.3])


def tokens_left(warper, logits=LOGITS):
    return np.flatnonzero(warper(logits) > -np.inf).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warp", "expected"),
    [
        (LogitsWarper(), [0, 1, 2, 3]),
        (LogitsWarper(top_k=2), [1, 3]),
        (LogitsWarper(top_k=9), [0, 1, 2, 3]),
        (LogitsWarper(top_p=0.4), [1]),
        (LogitsWarper(top_p=0.41), [1, 3]),
        (LogitsWarper(top_p=0.85), [1, 2, 3]),
        (LogitsWarper(top_k=3, top_p=0.7), [1, 3]),
    ],
)
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_logits_warper_keeps_the_likeliest_tokens(warp, expected, library):
    xp = pytest.importorskip(library)
    assert tokens_left(lambda logits: np.asarray(warp(xp.asarray(logits))), LOGITS) == expected


def test_logits_warper_divides_by_the_temperature():
    warped = probabilities(LogitsWarper(temperature=0.5)(LOGITS))
    np.testing.assert_allclose(warped, np.array([1, 16, 4, 9]) / 30)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"temperature": 0}, "temperature: expected a finite number of at least 1e-06"),
        ({"temperature": float("inf")}, "temperature: expected"),
        ({"temperature": 1e-310}, "temperature: expected"),
        ({"temperature": "1"}, "temperature: expected .* found '1'"),
        ({"top_k": 0}, "top_k: expected an integer of at least 1"),
        ({"top_k": 1.5}, "top_k: expected an integer of at least 1, found 1.5"),
        ({"top_p": 0}, "top_p: expected a number above 0 and at most 1"),
        ({"top_p": "1"}, "top_p: expected a number above 0 and at most 1, found '1'"),
        ({"top_p": 1.1}, "top_p: expected"),
    ],
)
def test_logits_warper_refuses_settings_out_of_range(settings, part):
    with pytest.raises(SettingsError, match=part):
        LogitsWarper(**settings)


@pytest.mark.parametrize("temperature", [1e30, 1e39, 1e300])
def test_a_temperature_that_no_float32_holds_makes_all_tokens_as_likely(temperature):
    logits = np.array([3.0, -np.inf, -2.0, 9.0], np.float32)
    warped = probabilities(LogitsWarper(temperature)(logits))
    np.testing.assert_allclose(warped, [1 / 3, 0, 1 / 3, 1 / 3], rtol=1e-6)


def test_a_top_p_that_no_float32_holds_keeps_the_likeliest_token():
    warped = probabilities(LogitsWarper(top_p=1e-46)(np.array([3.0, -2.0, 9.0], np.float32)))
    assert warped.tolist() == [0, 0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_multinomial_follows_the_probabilities(library):
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
def test_multinomial_never_chooses_a_token_with_probability_0(values, drawn, kind):
    logits = np.array([*values, 0.0], dtype=kind)
    token = multinomial(Fixed(drawn))([], logits)
    assert 0 <= token < len(logits)
    assert probabilities(logits)[token] > 0


@pytest.mark.parametrize("sampler", [greedy, multinomial(random.Random(1))])
def test_logits_that_are_no_numbers_are_refused(sampler):
    for logits in ([0.0, np.nan, 1.0], [np.nan] * 3):
        with pytest.raises(ModelError, match="expected finite logits"):
            sampler([], np.array(logits))


def test_greedy_takes_the_first_of_equally_likely_tokens():
    assert greedy([], np.array([0.0, 2.0, 2.0])) == 1


@pytest.mark.parametrize("name", SCHEMES)
def test_watermarked_sampler_ignores_the_scheme_when_the_context_is_too_short(name):
    scheme = SCHEMES[name](bytes(16), 4)
    sampler = watermarked_sampler(scheme, random.Random(3), LogitsWarper(top_k=1))
    for length in range(7):
        assert sampler([0] * length, LOGITS) == 1


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_excluding_keeps_the_sampler_from_excluded_tokens(library):
    xp = pytest.importorskip(library)
    sample = excluding(greedy, [1, 3, 900])
    assert sample([], xp.asarray(LOGITS)) == 2
    assert excluding(greedy, []) is greedy


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 6), st.integers(0, 10))
def test_is_first_occurrence_compares_with_all_earlier_windows(ids, width, begin):
    windows = [ids[at : at + width] for at in range(begin, len(ids) - width + 1)]
    if windows:
        assert is_first_occurrence(ids, width, begin) == (windows[-1] not in windows[:-1])
        assert is_first_occurrence(tuple(ids), width, begin) == is_first_occurrence(
            ids, width, begin
        )


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 12))
def test_watermarked_sampler_marks_what_the_detector_counts_with_gumbel(ids, begin):
    """A token decided by the key is one that counts in the text without its prompt; and back."""
    scheme, draw = Gumbel(bytes(range(16)), 4), random.Random(1)
    begin = min(begin, len(ids))
    sampler = of_text(excluding(watermarked_sampler(scheme, draw), [9]), begin)
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


def test_watermarked_sampler_marks_every_context_with_version_1_of_gumbel():
    draw = random.Random(1)
    sampler = of_text(watermarked_sampler(Gumbel(bytes(16), 4, version=1), draw), 3)
    before = draw.getstate()
    assert len({sampler([1] * length, np.zeros(4)) for length in range(5, 12)}) == 1
    assert draw.getstate() == before
