"""Draws: the same on both sides for ever, unrelated between keys, purposes and steps, uniform."""

from hashlib import blake2b
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ticore._support.shared_randomness import SharedRandomness

KEY = bytes(range(16))
LEVEL = 1e-4  # below this a fit is rejected; with fixed seeds a test passes always or never


def test_take_gives_the_numbers_of_former_versions():
    """Old texts stay readable: these numbers belong to this key for ever."""
    bits = SharedRandomness(KEY, "codec").at(0)
    assert bits.take(64) == 0x6A9231288D62DBC8
    assert [bits.below(10) for _ in range(8)] == [0, 0, 6, 7, 0, 4, 6, 4]
    assert SharedRandomness(KEY, "codec").at(2**40).take(600) % 2**64 == 0xEC2AE06FC926CCEB
    assert SharedRandomness(bytes(64), "syncpool").at(7).take(32) == 0x70491F4


@given(
    key=st.binary(min_size=16, max_size=64),
    purpose=st.text("abcdefgh", min_size=1, max_size=16),
    step=st.integers(0, 2**64 - 1),
    count=st.integers(0, 2000),
)
def test_take_gives_keyed_hashes_of_step_and_block(key, purpose, step, count):
    blocks = [
        blake2b(
            step.to_bytes(8, "big") + block.to_bytes(8, "big"), key=key, person=purpose.encode()
        ).digest()
        for block in range(4)
    ]
    whole = int.from_bytes(b"".join(blocks), "big")
    assert SharedRandomness(key, purpose).at(step).take(count) == whole >> 2048 - count


@given(counts=st.lists(st.integers(0, 700), max_size=8), step=st.integers(0, 50))
def test_take_gives_the_same_bits_in_pieces_or_at_once(counts, step):
    draws = SharedRandomness(KEY, "codec")
    bits, pieces = draws.at(step), 0
    for count in counts:
        piece = bits.take(count)
        assert 0 <= piece < 1 << count
        pieces = pieces << count | piece
    assert pieces == draws.at(step).take(sum(counts))


def test_at_gives_the_same_numbers_in_any_order():
    draws = SharedRandomness(KEY, "codec")
    there = [draws.at(step).take(64) for step in range(10)]
    back = [draws.at(step).take(64) for step in reversed(range(10))]
    assert there == back[::-1]


def test_at_gives_unrelated_numbers_for_other_keys_purposes_and_steps():
    """Of any two, half of the bits agree."""
    strings = [
        SharedRandomness(bytes([first]) + KEY, purpose).at(step).take(4096)
        for first in (0, 1)
        for purpose in ("codec", "codec2", "syncpool")
        for step in (0, 1, 256)
    ]
    for a, b in combinations(strings, 2):
        differing = (a ^ b).bit_count()
        assert chisquare([differing, 4096 - differing]).pvalue > LEVEL


@given(bound=st.integers(1, 2**80), step=st.integers(0, 50))
def test_below_is_in_range(bound, step):
    bits = SharedRandomness(KEY, "codec").at(step)
    assert all(0 <= bits.below(bound) < bound for _ in range(5))


@pytest.mark.parametrize("bound", [2, 3, 10, 97])
def test_below_is_uniform(bound):
    bits = SharedRandomness(KEY, "codec").at(0)
    counts = np.bincount([bits.below(bound) for _ in range(20000)], minlength=bound)
    assert chisquare(counts).pvalue > LEVEL


def test_take_gives_uniform_bits():
    bits = SharedRandomness(KEY, "codec").at(1)
    counts = np.bincount([bits.take(5) for _ in range(20000)], minlength=32)
    assert chisquare(counts).pvalue > LEVEL


def test_below_scales_the_bits():
    """Both sides must use as many bits: 64 more than the bound has."""
    bits, again = SharedRandomness(KEY, "codec").at(3), SharedRandomness(KEY, "codec").at(3)
    assert bits.below(1000) == again.take(74) * 1000 >> 74
    assert bits.take(8) == again.take(8)
