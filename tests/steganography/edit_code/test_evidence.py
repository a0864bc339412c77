"""Tokens as samples of the weights, and what they tell."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.weight_tables import tables
from ticore.steganography._edit_code.evidence import (
    Clue,
    bounds_of,
    chosen_by,
    doubt_of,
    frames_of,
    most_bits,
)
from ticore.steganography._edit_code.trellis import numbers_of_states


@given(tables(), st.integers(0, 2**32 - 1))
def test_number_chooses_the_index_in_whose_bounds_it_is(weights, number):
    index = chosen_by(number, weights)
    low, high = bounds_of(weights, index)
    assert low <= number < high


@given(tables())
def test_each_index_is_chosen_by_its_share_of_the_numbers(weights):
    bounds = [bounds_of(weights, index) for index in range(len(weights))]
    assert bounds[0][0] == 0
    assert bounds[-1][1] == 2**32
    assert all(one[1] == other[0] for one, other in pairwise(bounds))
    total = int(weights.sum())
    shares = [(high - low) * total for low, high in bounds]
    assert shares == [int(weight) << 32 for weight in weights]


def test_clue_fits_the_states_that_would_have_chosen_the_token():
    weights = np.array([1, 2, 1], dtype=np.int64)
    numbers = numbers_of_states(3, 4)
    clue = Clue.of(9, numbers, bounds_of(weights, 1))
    assert clue.bits == 1
    assert [chosen_by(int(number), weights) == 1 for number in numbers] == clue.fits.tolist()


def test_doubt_grows_with_edits_and_window():
    assert doubt_of(0, 4) == 0.02
    assert doubt_of(0.1, 1) == pytest.approx(0.19)
    assert doubt_of(0.1, 4) > doubt_of(0.05, 4) > doubt_of(0.05, 2)


@settings(max_examples=3)
@given(st.integers(0, 2**32))
def test_tokens_of_nobody_give_no_frame_that_was_asked_for(seed):
    random, weights = Random(seed), np.array([3, 1, 2, 2], dtype=np.int64)
    clues = [
        Clue.of(
            random.getrandbits(64),
            numbers_of_states(random.getrandbits(64), random.getrandbits(32)),
            bounds_of(weights, random.randrange(4)),
        )
        for _ in range(200)
    ]
    assert most_bits(clues) > 200
    assert random.randbytes(12) not in list(frames_of(clues, 12, 0.2))
