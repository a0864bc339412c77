"""Comparison of long sequences.

pytest explains why two lists differ, and for lists of thousands of numbers this takes from minutes
to hours where the environment variable CI is set. Here only the first difference is shown.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

from .._support.common_beginning import common_length

_SHOWN = 6  # items


def require_same(found: Sequence[object], expected: Sequence[object], what: str) -> None:
    """Compare two sequences of the same type.

    Raises:
        AssertionError: they differ. It says where, and shows a few items from there on.

    >>> require_same([1, 2, 3], [1, 2, 4], "the bits that are read")
    Traceback (most recent call last):
    ...
    AssertionError: the bits that are read: from item 2 of 3 on expected [4], found [3]
    """
    if found == expected:
        return
    first = common_length(found, expected)
    here = slice(first, first + _SHOWN)
    raise AssertionError(
        f"{what}: from item {first} of {len(expected)} on expected "
        f"{reprlib.repr(expected[here])}, found {reprlib.repr(found[here])}"
    )
