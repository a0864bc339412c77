"""How far two sequences agree."""

from __future__ import annotations

from collections.abc import Sequence


def common_length(one: Sequence[object], other: Sequence[object]) -> int:
    """With how many equal items two sequences begin.

    >>> common_length("carpet", "carbon")
    3
    """
    if type(one) is not type(other):
        one, other = tuple(one), tuple(other)
    same, end = 0, min(len(one), len(other))
    # Slices are compared faster than their items one by one: one[:same] == other[:same].
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same
