"""The trellis: the best path is the best of all, and states have numbers unlike each other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from ticore.steganography._edit_code.trellis import (
    MEMORY,
    STATES,
    best_path,
    numbers_of_states,
    states_of,
    steps_for,
)

BITS = 6


@given(st.lists(st.integers(0, 1), max_size=40))
def test_states_are_the_last_bits(bits: list[int]) -> None:
    states = states_of(np.array(bits, dtype=np.uint8))
    assert len(states) == steps_for(len(bits))
    whole = [0] * MEMORY + bits + [0] * MEMORY
    for step, state in enumerate(states.tolist()):
        last = whole[step + 1 : step + 1 + MEMORY]
        assert state == int("".join(map(str, last)), 2)
    assert states[-1] == 0


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_best_path_is_the_best_of_all(seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(steps_for(BITS), STATES)).astype(np.float32)
    totals = np.empty(1 << BITS)
    for number in range(1 << BITS):
        bits = np.array([number >> BITS - 1 - n & 1 for n in range(BITS)], dtype=np.uint8)
        totals[number] = scores[np.arange(len(scores)), states_of(bits)].sum()
    for n, margin in enumerate(best_path(scores).tolist()):
        ones = np.arange(1 << BITS) >> BITS - 1 - n & 1 == 1
        assert abs(margin - (totals[ones].max() - totals[~ones].max())) < 1e-3


def test_numbers_of_states_are_uniform_and_change_with_the_window() -> None:
    one, other = numbers_of_states(7, 5), numbers_of_states(8, 5)
    assert kstest(one / 2**32, "uniform").pvalue > 1e-3
    assert (one < 2**32).all()
    assert (one == other).mean() < 0.01
    assert (numbers_of_states(7, 0) ^ np.uint64(5) == one).all()
    near = np.abs(one.astype(float)[1:] - one.astype(float)[:-1]) / 2**32
    assert 0.3 < near.mean() < 0.37  # of independent uniform numbers: a third
