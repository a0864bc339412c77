"""From logits to pools: order, limits, and what can never be a candidate."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.steganography.plain_pool import PlainCandidates
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.candidates import (
    Candidates,
    PoolSettings,
    non_candidates,
    to_weights,
)
from ticore.errors import ModelError

TOKENIZER = ToyTokenizer(["", "a", "b", "ab", "c", "ca", "d", "e", "f", "g"], special=[4])
WIDTH = 12  # two logits more than tokens
WRITABLE = [1, 2, 3, 5, 6, 7, 8]  # not the empty 0, the special 4, the end token 9, the padding


def candidates(**settings):
    return Candidates(ToyModel(TOKENIZER, width=WIDTH, eos_ids={9}), PoolSettings(**settings))


def test_ids_without_logits_are_no_candidates():
    """Some models have special ids above their logits."""
    few = Candidates(ToyModel(TOKENIZER, width=8, eos_ids={9}), PoolSettings())
    assert few.ids.tolist() == [token for token in WRITABLE if token < 8]


logits = arrays(np.float64, WIDTH, elements=st.floats(-50, 50))


@given(logits=logits, k=st.one_of(st.none(), st.integers(1, 20)))
def test_pool_has_the_first_k_tokens_by_rounded_logit_then_id(logits, k):
    pool = candidates(top_k=k).pool(logits)
    rounded = np.rint(logits * 1024)
    expected = sorted(WRITABLE, key=lambda i: (-rounded[i], i))[:k]
    assert pool.ids.tolist() == expected
    assert (np.diff(pool.unnormalized_probs) <= 0).all()


LARGE = ToyModel(
    ToyTokenizer(["", *map(chr, range(0x4E00, 0x4E00 + 2999))], special=[*range(1, 9), 2990]),
    width=3100,
    eos_ids={1500},
)


# From certain to what is less likely than a weight's unit; and, half of them each way, logits that
# are rounded by nearly half a step.
SPREAD = np.linspace(40, -40, LARGE.logit_width)
HALF_STEPS = np.where(np.arange(LARGE.logit_width) % 2, 1, -1) * (0.5 - 1e-6) / 1024


@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 9999), dtype=st.sampled_from(["f2", "f4", "f8"]))
def test_pool_is_the_one_that_rounding_all_logits_gives(data, seed, dtype):
    """Where logits tie, nearly tie, lie on a boundary of the grid, are excluded, or are extreme."""
    rng, draw = np.random.default_rng(seed), lambda *values: data.draw(st.sampled_from(values))
    settings_ = PoolSettings(
        temperature=draw(1.0, 0.7, 3.3, 1e-6, 1e5, 1e300),
        top_k=draw(1, 64, 700, 2980, 5000, None),
        top_p=draw(1.0, 0.9),
        grid_bits=draw(0, 4, 10, 12),
    )
    step = settings_.temperature / (1 << settings_.grid_bits)
    values = rng.normal(size=LARGE.logit_width) * draw(0, 0.01, 3.0, 1e4, 1e15)
    if draw(True, False) and 1e-12 < step < 1e9:
        # On the boundaries, where half of a step decides, and a float next to them.
        values = (np.rint(values / step) + 0.5) * step
        values = np.nextafter(values, values + rng.integers(-1, 2, len(values)))
    if draw(True, False):
        values[rng.random(len(values)) < draw(0.5, 0.99, 1.0)] = -np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        given_logits = values.astype(dtype)
        plain, source = (kind(LARGE, settings_) for kind in (PlainCandidates, Candidates))
        try:
            expected = plain.pool(given_logits)
        except ModelError:
            with pytest.raises(ModelError):
                source.pool(given_logits)
            return
        found = source.pool(given_logits)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.rounded_logits.tolist() == expected.rounded_logits.tolist()


def test_pool_takes_a_token_below_the_last_of_the_top_that_rounds_to_the_same_level():
    """By its id it comes first: 4.5 rounds to 4, 4.51 and 4.6 to 5."""
    logits_ = np.full(LARGE.logit_width, -9.0)
    logits_[[2000, 1200, 1300]] = 4.6, 4.51, 4.5
    pool = Candidates(LARGE, PoolSettings(top_k=1, grid_bits=0)).pool(logits_)
    assert pool.ids.tolist() == [1200]


@given(logits=logits, p=st.floats(0.01, 0.99))
def test_pool_has_the_fewest_tokens_that_reach_top_p(logits, p):
    everything = candidates(top_k=None).pool(logits)
    kept = candidates(top_k=None, top_p=p).pool(logits)
    share = everything.unnormalized_probs / everything.unnormalized_probs.sum()
    n = len(kept)
    assert kept.ids.tolist() == everything.ids[:n].tolist()
    assert share[:n].sum() >= p - 1e-8
    assert n == 1 or share[: n - 1].sum() < p + 1e-8


@given(
    logits=arrays(
        np.float64, LARGE.logit_width, elements=st.floats(-40, 40), fill=st.floats(-9, 9)
    ),
    grid_bits=st.integers(0, 12),
    weight_bits=st.integers(13, 32),
    top_k=st.sampled_from([1, 2, 5, 64, None]),
    temperature=st.floats(0.1, 5),
)
@example(logits=SPREAD, grid_bits=10, weight_bits=13, top_k=None, temperature=1.0)
@example(logits=SPREAD, grid_bits=10, weight_bits=32, top_k=None, temperature=1.0)
@example(logits=SPREAD, grid_bits=10, weight_bits=8, top_k=64, temperature=0.1)
@example(logits=HALF_STEPS, grid_bits=10, weight_bits=32, top_k=None, temperature=1.0)
def test_weights_move_probabilities_by_no_more_than_the_bound(
    logits, grid_bits, weight_bits, top_k, temperature
):
    """At any number of bits no token becomes impossible, and none likelier by more than that."""
    settings_ = PoolSettings(temperature, top_k, grid_bits=grid_bits, weight_bits=weight_bits)
    pool = Candidates(LARGE, settings_).pool(logits)
    weights = to_weights(pool.unnormalized_probs, weight_bits)
    assert weights.min() >= 1
    exact = np.exp((logits[pool.ids] - logits[pool.ids].max()) / temperature)
    moved = weights / 2**weight_bits - exact / exact.sum()
    bound = settings_.rounding_bound(len(pool)) + 1e-12  # errors of the floats here
    assert moved[moved > 0].sum() <= bound
    assert -moved[moved < 0].sum() <= bound


def test_bound_of_rounding_is_nearly_reached():
    """By a grid whose steps end between the logits, and by weights of few bits."""
    for logits, settings_ in (
        (HALF_STEPS, PoolSettings(top_k=None)),
        (np.where(np.arange(LARGE.logit_width) == 2000, 40.0, 0), PoolSettings(weight_bits=8)),
    ):
        pool = Candidates(LARGE, settings_).pool(logits)
        weights = to_weights(pool.unnormalized_probs, settings_.weight_bits)
        exact = np.exp(logits[pool.ids] - logits[pool.ids].max())
        moved = np.abs(weights / 2**settings_.weight_bits - exact / exact.sum()).sum() / 2
        assert moved > 0.9 * settings_.rounding_bound(len(pool))


def test_pool_without_a_limit_leaves_out_no_token_that_can_be_written():
    pool = Candidates(LARGE, PoolSettings(top_k=None)).pool(SPREAD)
    excluded = {0, *range(1, 9), 2990, 1500, *range(3000, 3100)}
    assert sorted(pool.ids.tolist()) == sorted({*range(3100)} - excluded)


@given(logits=logits, noise=arrays(np.float64, WIDTH, elements=st.floats(-1e-9, 1e-9)))
def test_pool_is_the_same_under_noise_below_the_grid(logits, noise):
    snapped = np.rint(logits * 1024) / 1024
    left, right = (candidates(top_p=0.9).pool(x) for x in (snapped, snapped + noise))
    assert left.ids.tolist() == right.ids.tolist()
    assert left.unnormalized_probs.tolist() == right.unnormalized_probs.tolist()


@given(logits=logits, k=st.integers(1, 8))
def test_remaining_continues_where_the_pool_ends(logits, k):
    source = candidates(top_k=k)
    pool = source.pool(logits)
    rest = [i for chunk in source.remaining(logits, pool) for i in chunk.ids.tolist()]
    assert pool.ids.tolist() + rest == candidates(top_k=None).pool(logits).ids.tolist()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("token", [0, 4, 3099])  # also where it is no candidate
def test_pool_refuses_logits_that_are_not_finite(bad, token):
    given_logits = np.zeros(LARGE.logit_width, np.float32)
    given_logits[token] = bad
    for top_k in (5, None):
        with pytest.raises(ModelError, match="NaN or infinity"):
            Candidates(LARGE, PoolSettings(top_k=top_k)).pool(given_logits)


def test_pool_leaves_out_a_token_with_logit_minus_infinity():
    logits = np.zeros(WIDTH)
    logits[[1, 6]] = -np.inf
    assert candidates(top_k=None).pool(logits).ids.tolist() == [2, 3, 5, 7, 8]


def test_non_candidates_are_special_ending_and_empty_ids():
    assert np.flatnonzero(~non_candidates(TOKENIZER, {9, 11})).tolist() == WRITABLE


@given(logits=logits, noise=arrays(np.float64, WIDTH, elements=st.floats(-1, 1)), data=st.data())
def test_a_stable_pool_is_the_same_within_the_tolerance(logits, noise, data):
    steps = data.draw(st.integers(1, 50)) / 100
    temperature = data.draw(st.sampled_from([0.5, 1.0, 1.7]))
    source = candidates(
        top_k=data.draw(st.one_of(st.none(), st.integers(1, 9))),
        top_p=data.draw(st.sampled_from([0.5, 1.0])),
        grid_bits=data.draw(st.sampled_from([0, 4, 10])),
        temperature=temperature,
    )
    tolerance = steps * temperature / (1 << source.settings.grid_bits)
    # Nothing survives half a step unless few logits matter: let some lie on the grid itself.
    snapped = np.rint(logits * 64) / 64 * temperature
    for given_logits in (logits, snapped):
        if source.stable_within(given_logits, tolerance):
            here, there = (source.pool(x) for x in (given_logits, given_logits + noise * tolerance))
            assert here.ids.tolist() == there.ids.tolist()
            assert here.rounded_logits.tolist() == there.rounded_logits.tolist()


def test_a_pool_is_not_stable_when_a_relevant_logit_is_near_a_boundary():
    logits = np.arange(WIDTH, dtype=float)
    source = candidates(top_k=2, grid_bits=0)
    assert source.pool(logits).ids.tolist() == [8, 7]
    for token, level in ((8, 8.5), (8, 8.499999), (7, 6.500001), (6, 6.4999999)):
        near = logits.copy()
        near[token] = level
        assert not source.stable_within(near, 1e-5)
        assert source.stable_within(near, 1e-9) == (level != 8.5)
    for token, level in ((5, 4.5), (0, 1.5), (9, 9.5), (11, 3.5)):  # too low, or no candidate
        near = logits.copy()
        near[token] = level
        assert source.stable_within(near, 1e-5)
        assert source.stable_within(near, 1e-5, with_remaining=True) == (token != 5)


class TopToy:
    """A decoder that gives the largest logits alone, and counts how often all are fetched."""

    def __init__(self, logits):
        self._logits, self.fetched = logits, 0

    def logits(self):
        self.fetched += 1
        return self._logits

    def top(self, count):
        ids = np.argsort(-self._logits, kind="stable")[:count]
        return ids, self._logits[ids]


@given(
    seed=st.integers(0, 999),
    scale=st.sampled_from([0.0, 0.001, 0.1, 3.0]),
    k=st.sampled_from([None, 1, 5, 60]),
    p=st.sampled_from([0.7, 1.0]),
)
def test_after_gives_the_same_pool_from_the_largest_logits_alone(seed, scale, k, p):
    tokenizer = ToyTokenizer(["", *map(chr, range(0x4E00, 0x4E00 + 199))], special=[4, 7])
    model = ToyModel(tokenizer, width=210, eos_ids={9})
    source = Candidates(model, PoolSettings(top_k=k, top_p=p))
    decoder = TopToy(np.random.default_rng(seed).normal(size=210) * scale)
    found, expected = source.after(decoder), source.pool(decoder._logits)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.rounded_logits.tolist() == expected.rounded_logits.tolist()
    if k is not None and scale == 3.0:
        assert not decoder.fetched
    if scale == 0.0:  # all alike: which come by id, the largest alone cannot tell
        assert decoder.fetched


def test_after_fetches_all_logits_when_the_largest_are_not_candidates():
    tokenizer = ToyTokenizer(["", *map(chr, range(0x4E00, 0x4E00 + 99))], special=range(2, 60))
    source = Candidates(ToyModel(tokenizer), PoolSettings(top_k=5))
    decoder = TopToy(-np.arange(100.0))
    assert source.after(decoder).ids.tolist() == [1, 60, 61, 62, 63]
    assert decoder.fetched


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_after_refuses_largest_logits_that_are_not_finite(bad):
    decoder = TopToy(np.array([bad] + [0.0] * (WIDTH - 1)))
    with pytest.raises(ModelError, match="NaN or infinity"):
        candidates(top_k=1).after(decoder)
