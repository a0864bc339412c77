"""How far two sequences agree."""

from __future__ import annotations

from collections.abc import Sequence


def common_length(one: Sequence[object], other: Sequence[object]) -> int:
    """With how many equal items two sequences begin.

    >>> common_length("carpet", "carbon")
    3
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
