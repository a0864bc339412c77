"""SparSamp: which numbers a choice leaves, against brute force; what short and long blocks cost."""

from fractions import Fraction
from itertools import cycle, islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.codec_runs import (
    normal_pools,
    random_bits,
    randomness_of,
    to_source,
    utilisation,
    write,
)
from tests.support.weight_tables import weights_of
from ticore.codecs import BitSource, SparSampCodec, unpack_bits, zeros
from ticore.codecs._sparsamp import _Circle
from ticore.errors import SettingsError


class Turn:
    """Draws that give one number."""

    def __init__(self, turn):
        self.turn = turn

    def take(self, count):
        assert self.turn < 1 << count
        return self.turn


@st.composite
def circles(draw):
    """(weights, turn): small ones, that sum to a power of two."""
    bits = draw(st.integers(1, 6))
    cuts = draw(st.sets(st.integers(1, (1 << bits) - 1), min_size=1, max_size=6))
    ends = [0, *sorted(cuts), 1 << bits]
    turn = draw(st.integers(0, (1 << bits) - 1))
    return np.array([b - a for a, b in pairwise(ends)]), turn


@given(circle=circles(), size=st.integers(1, 80))
def test_circle_points_are_those_of_exact_fractions(circle, size):
    weights, turn = circle
    ends, total = np.cumsum(weights).tolist(), int(weights.sum())
    places = [(turn + Fraction(k * total, size)) % total for k in range(size)]
    parts = [sum(end <= place for end in ends) for place in places]
    found = _Circle(weights, Turn(turn))
    assert [found.part_of(k, size) for k in range(size)] == parts
    for index in range(len(weights)):
        first, count = found.points_in(index, size)
        possible = [(first + i) % size for i in range(count)]
        assert sorted(possible) == [k for k in range(size) if parts[k] == index]


@given(circle=circles(), size=st.integers(1, 80), number=st.integers(0, 79))
def test_circle_point_samples_the_weights(circle, size, number):
    """Over all turns: exactly, wherever the message has put the point."""
    weights, _ = circle
    total = int(weights.sum())
    parts = [_Circle(weights, Turn(turn)).part_of(number % size, size) for turn in range(total)]
    assert np.bincount(parts, minlength=len(weights)).tolist() == weights.tolist()


@pytest.mark.parametrize(("block_bits", "share"), [(8, 0.82), (32, 0.95), (128, 0.98)])
def test_sparsamp_carries_what_its_docstring_says(block_bits, share):
    found = utilisation(SparSampCodec(randomness_of(0), block_bits), normal_pools(64), 20000)
    assert found == pytest.approx(share, abs=0.01)


def test_sparsamp_error_ends_with_its_block():
    """The reader's logits differ at one step of the second block; the third is read right."""
    pools, misread = normal_pools(64), 0
    for seed in range(20):
        codec, bits = SparSampCodec(randomness_of(seed)), random_bits(seed, 192)
        chosen = write(codec, bits, cycle(pools), zeros)
        weights, index = chosen[len(chosen) // 2]
        wrong = weights.copy()
        wrong[[0, 1]] += [1 << 12, -(1 << 12)]
        chosen[len(chosen) // 2] = wrong, index
        reader, found = codec.reader(), []
        for step in chosen:
            found += unpack_bits(*reader.observe(*step))
        assert found[:64] == bits[:64]
        assert found[128:] == bits[128:]
        misread += found != bits
    assert misread > 0


def test_sparsamp_error_ends_with_its_block_when_no_value_is_left():
    """The last token of the second block is of a part that has none of the points."""
    weights, wrong, bits = weights_of([1, 1], 32), np.array([1, 2**32 - 1]), random_bits(1, 32)
    codec = SparSampCodec(randomness_of(0), 8)
    writer, reader, found = codec.writer(to_source(bits, zeros)), codec.reader(), []
    while not writer.done:
        before, index = writer.settled, writer.choose(weights)
        if (before, writer.settled) == (8, 16):
            found += unpack_bits(*reader.observe(wrong, 0))
        else:
            found += unpack_bits(*reader.observe(weights, index))
    assert found[:8] == bits[:8]
    assert found[16:] == bits[16:]


@given(block_bits=st.integers(1, 1024))
def test_sparsamp_settles_whole_blocks(block_bits):
    writer = SparSampCodec(randomness_of(0), block_bits).writer(to_source([1], zeros))
    for _ in range(5000):
        if writer.done:
            break
        assert writer.settled == 0
        writer.choose(weights_of([3, 2, 1], 16))
    assert writer.settled == block_bits


@pytest.mark.parametrize("block_bits", [0, -1, 1025, 8.0, "8", True, None])
def test_sparsamp_refuses_other_block_sizes(block_bits):
    expected = f"block_bits: expected an integer from 1 to 1024, found {block_bits!r}"
    with pytest.raises(SettingsError, match=expected):
        SparSampCodec(randomness_of(0), block_bits)


@pytest.mark.parametrize(
    ("block_bits", "golden", "settled"),
    [
        (
            4,
            "110110001020000001201100111010200110110000202020012000002000000000000100000011000110000010000120",
            88,
        ),
        (
            64,
            "111010200020100001200010000001101100110011000010112010200120011021001020101000100020101011000020",
            64,
        ),
    ],
)
def test_sparsamp_choices_are_those_of_former_versions(block_bits, golden, settled):
    """Old texts stay readable: these choices belong to this key and these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])]
    source = BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros)
    writer = SparSampCodec(randomness_of(0), block_bits).writer(source)
    chosen = [writer.choose(weights) for weights in islice(cycle(steps), 96)]
    assert "".join(map(str, chosen)) == golden
    assert writer.settled == settled
