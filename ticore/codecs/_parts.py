"""A range of integers that candidates divide in proportion to their weights.

The parts have integer ends and cover the range without gap or overlap, so both sides divide it
alike, and nothing is lost to rounding. In a range of 2^96 integers or more each part has the share
of its weight to within 2^-64 of it, since a share is at least 2^-32.
"""

from __future__ import annotations

import numpy as np

from ._base import Weights

_LEAST_WIDTH_BITS = 96
_REFINE_BITS = 64


def missing_bits(width: int) -> int:
    """By how many bits a range of `width` integers must be refined before it is divided."""
    short = max(0, _LEAST_WIDTH_BITS + 1 - width.bit_length())
    return -(-short // _REFINE_BITS) * _REFINE_BITS


def part(ends: Weights, index: int, width: int) -> tuple[int, int]:
    """(start, width) of part `index` of `width` integers.

    Args:
        ends: int64[n], the sums of the weights up to each of them.
        index: 0 to n - 1.
        width: how many integers there are.
    """
    bits = int(ends[-1]).bit_length() - 1
    start = width * (int(ends[index - 1]) if index else 0) >> bits
    return start, (width * int(ends[index]) >> bits) - start


def part_of(ends: Weights, place: int, width: int) -> int:
    """The part that holds the integer `place`, 0 to `width` - 1. Arguments as of `part`."""
    bits = int(ends[-1]).bit_length() - 1
    # The last part whose start, width * end >> bits, is not above the place.
    reach = ((place + 1 << bits) - 1) // width
    return int(np.searchsorted(ends, reach, side="right"))
