"""Which prompts are read together: in few passes, and with little padding.

    lengths 5 90 80 7 300    are read as    [300] [90 80] [5 7]

In a pass all prompts are padded to the longest one, and padding costs as much as ids do.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_IDS = 1 << 14  # in a pass, padding included: more need more memory and are hardly faster
SHORT = 64  # ids: prompts up to this length are read together, whatever padding they need


def passes(lengths: Sequence[int]) -> list[list[int]]:
    """The places in `lengths` of the prompts that each pass reads, the longest prompts first.

    A pass pads each prompt by less than a fourth of its length, or to `SHORT` ids at most. It has
    `MOST_IDS` ids at most, or one prompt.

    >>> passes([5, 90, 80, 7, 300])
    [[4], [1, 2], [3, 0]]
    """
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if not found or not _joins(lengths[place], lengths[found[-1][0]], len(found[-1])):
            found.append([])
        found[-1].append(place)
    return found


def _joins(length: int, longest: int, others: int) -> bool:
    """Whether a prompt is read with `others` prompts, of which the longest one is given."""
    little_padding = 5 * length > 4 * longest or longest <= SHORT
    return little_padding and (others + 1) * longest <= MOST_IDS
