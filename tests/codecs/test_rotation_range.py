"""Rotation range coding: its range against a plain list, what it carries, the published stop."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate, count, cycle, islice
from math import ceil

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.codec_runs import (
    entropy,
    normal_pools,
    random_bits,
    random_tail,
    randomness_of,
    read,
    utilisation,
    write,
)
from tests.support.weight_tables import weights_of
from ticore.codecs import BitSource, RotationRangeCodec, zeros
from ticore.codecs._rotation_range import _RotatedRange
from ticore.codecs._settling import shares


class NoMask:
    """Shared random numbers that are 0."""

    def take(self, count):
        return 0


HALF = Fraction(1, 2)
cuts = st.tuples(st.integers(0, 15), st.integers(0, 15), st.integers(1, 16))


@given(st.lists(cuts, max_size=8))
@example([(5, 1, 14), (3, 2, 9), (6, 0, 3), (1, 1, 1)])
def test_rotated_range_is_the_list_of_its_numbers(steps):
    """Sixteen stretches of numbers, each with its first four bits, rotated and cut as a list is."""
    found, settled = _RotatedRange(), ""
    unit = 1 << found.refine(NoMask())[1] - 4
    numbers = [f"{n:04b}" for n in range(16)]
    for step in steps:
        turn, start, size = step[0] % len(numbers), step[1] % len(numbers), step[2]
        rotated = numbers[len(numbers) - turn :] + numbers[: len(numbers) - turn]
        numbers = rotated[start : start + size]
        value, bits = found.take(turn * unit, start * unit, len(numbers) * unit)
        settled += f"{value:0{bits}b}" if bits else ""
        assert settled == next(
            numbers[0][:n]
            for n in reversed(range(5))
            if all(number.startswith(numbers[0][:n]) for number in numbers)
        )
        assert found.width == len(numbers) * unit


def test_rotation_range_carries_what_its_docstring_says():
    pools = normal_pools(64)
    endless = utilisation(RotationRangeCodec(randomness_of(0)), pools, 20000)
    assert endless == pytest.approx(1.0, abs=0.01)
    entropies, used = [entropy(shares(weights)) for weights in pools], 0.0
    for seed in range(100):
        chosen = write(
            RotationRangeCodec(randomness_of(seed)),
            random_bits(seed, 128),
            islice(cycle(pools), seed, None),
            random_tail(seed),
        )
        used += sum(entropies[(seed + n) % len(pools)] for n in range(len(chosen)))
    assert 100 * 128 / used == pytest.approx(0.965, abs=0.015)


def test_rotation_range_keeps_little_where_the_model_is_nearly_certain():
    """Each rotation cuts a piece, and only a choice drops some. A message of zeros is as any."""
    codec, bits = RotationRangeCodec(randomness_of(0)), [0] * 32
    steps = cycle([*[weights_of([1 << 30, 1], 32)] * 200, weights_of([1] * 64, 32)])
    chosen = write(codec, bits, steps, zeros)
    reader, most = codec.reader(), 0
    for step in chosen:
        reader.observe(*step)
        most = max(most, len(reader._range._pieces))
    assert read(codec, chosen, 32) == bits
    assert most <= 250


def published(bits, length, pools, turns):
    """The number that the published algorithms 3 and 4 write and read, without any rounding."""
    low, high, place = Fraction(0), Fraction(1 << length), Fraction(bits)
    past = []
    for weights, turn in zip(pools, turns, strict=False):
        width = high - low
        past.append((low, width, turn * width))
        place = low + (place - low + turn * width) % width
        ends = [0, *accumulate(weights.tolist())]
        index = bisect_right(ends, (place - low) / width * ends[-1]) - 1
        low, high = (low + width * Fraction(end, ends[-1]) for end in ends[index : index + 2])
        if -HALF < (low + high) / 2 - place <= HALF:
            break
    middle = (low + high) / 2
    for low, width, turn in reversed(past):
        middle = low + (middle - low - turn) % width
    return ceil(middle - HALF)


def test_published_stop_misreads_what_a_rotation_cuts_off():
    """The number 3 of 0 to 3 rotates by 7/8 to place 2.5, in a part of 0 to 4.

    The part's middle 2 is half a unit away, so the text ends. But the middle comes from number 2.5
    and is rounded to 2.
    """
    halves = weights_of([1], 8)
    assert published(3, 2, [halves], [Fraction(7, 8)]) != 3


def test_published_stop_misreads_what_ours_reads():
    """The same pools; the rotations of both are uniform."""
    pools, misread = normal_pools(64), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        turns = (Fraction(int(rng.integers(1 << 62)), 1 << 62) for _ in count())
        bits = random_bits(seed, 64)
        number = int("".join(map(str, bits)), 2)
        if published(number, 64, cycle(pools), turns) != number:
            misread.append(seed)
        codec = RotationRangeCodec(randomness_of(seed))
        chosen = write(codec, bits, cycle(pools), random_tail(seed))
        assert read(codec, chosen, 64) == bits
    assert misread


def test_rotation_range_choices_are_those_of_former_versions():
    """Old texts stay readable: these choices belong to this key and these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])]
    source = BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros)
    writer = RotationRangeCodec(randomness_of(0)).writer(source)
    chosen = [writer.choose(weights) for weights in islice(cycle(steps), 96)]
    assert "".join(map(str, chosen)) == (
        "110010100010112000100020000011000110010000102010001011102020001001200000012011100120011000001020"
    )
    assert writer.settled == 86
