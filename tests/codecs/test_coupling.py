"""Minimum-entropy coupling: what it keeps, what blocks carry, and that masses stay small."""

from fractions import Fraction
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.codec_runs import (
    normal_pools,
    random_tail,
    randomness_of,
    read,
    to_source,
    utilisation,
    write,
)
from tests.support.weight_tables import tables, weights_of
from ticore.codecs import BitSource, CouplingCodec, zeros
from ticore.codecs._coupling import _scaled, coupled
from ticore.errors import SettingsError

lefts = st.dictionaries(st.integers(0, 15), st.integers(1, 1 << 40), min_size=1, max_size=16)


@given(lefts, tables())
def test_coupling_keeps_the_shares_of_both_sides(left, weights):
    """Exactly: each token has its weight, and each value its mass."""
    cells = coupled(left, weights)
    whole, total = sum(left.values()), int(weights.sum())
    assert {token: sum(cell.values()) for token, cell in cells.items()} == {
        token: weight * whole for token, weight in enumerate(weights.tolist())
    }
    for value, mass in left.items():
        assert sum(cell.get(value, 0) for cell in cells.values()) == mass * total
    assert sum(map(len, cells.values())) < len(left) + len(weights)


@given(lefts, tables())
def test_coupling_takes_the_largest_masses_first(left, weights):
    value, token = max(left, key=lambda n: (left[n], -n)), int(weights.argmax())
    whole, total = sum(left.values()), int(weights.sum())
    cell = coupled(left, weights)[token][value]
    assert cell == min(left[value] * total, int(weights[token]) * whole)


@given(st.dictionaries(st.integers(0, 4095), st.integers(1, 1 << 300), min_size=1))
def test_scaled_masses_are_small_and_keep_their_shares(left):
    found, whole = _scaled(left), sum(left.values())
    total = sum(found.values())
    assert total.bit_length() <= 193
    for value, mass in left.items():
        assert abs(Fraction(found[value], total) - Fraction(mass, whole)) < Fraction(1, 1 << 178)


@pytest.mark.parametrize(("block_bits", "share"), [(4, 0.63), (8, 0.78)])
def test_coupling_carries_what_its_docstring_says(block_bits, share):
    found = utilisation(CouplingCodec(randomness_of(0), block_bits), normal_pools(64), 2000)
    assert found == pytest.approx(share, abs=0.02)


def test_message_is_read_back_from_default_blocks_where_the_model_is_nearly_certain():
    codec, bits = CouplingCodec(randomness_of(0)), [1, 0] * 10
    steps = cycle([*[weights_of([1 << 30, 1], 32)] * 10, weights_of([5, 4, 3, 2], 32)])
    assert read(codec, write(codec, bits, steps, random_tail(0)), 20) == bits


@settings(max_examples=12)
@given(block_bits=st.integers(1, 12))
def test_coupling_settles_whole_blocks(block_bits):
    writer = CouplingCodec(randomness_of(0), block_bits).writer(to_source([1], zeros))
    while not writer.done:
        assert writer.settled == 0
        writer.choose(weights_of([3, 2, 1], 16))
    assert writer.settled == block_bits


@pytest.mark.parametrize("block_bits", [0, 13, 8.0, "8", True, None])
def test_coupling_refuses_other_block_sizes(block_bits):
    expected = f"block_bits: expected an integer from 1 to 12, found {block_bits!r}"
    with pytest.raises(SettingsError, match=expected):
        CouplingCodec(randomness_of(0), block_bits)


def test_coupling_choices_are_those_of_former_versions():
    """Old texts stay readable: these choices belong to this key and these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])]
    source = BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros)
    writer = CouplingCodec(randomness_of(0)).writer(source)
    chosen = [writer.choose(weights) for weights in islice(cycle(steps), 96)]
    assert "".join(map(str, chosen)) == (
        "011001100010110001201000001001201120002001200000001001200000110000000010000000000110002011102110"
    )
    assert writer.settled == 64
