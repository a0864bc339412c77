"""The lengths and first bytes of all tokens of a vocabulary, found side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NONE = -1
"""Stands for a byte that a token does not have."""


class TokenHeads(NamedTuple):
    """What tokens begin with.

    Attributes:
        lengths: int64[n], in bytes.
        first, second: int32[n], their first two bytes, or `NONE`.
    """

    lengths: npt.NDArray[np.int64]
    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]


def heads_of(spelled: Sequence[bytes]) -> TokenHeads:
    """The heads of tokens, given the bytes of each.

    >>> heads_of([b"abc", b""]).first.tolist()
    [97, -1]
    """
    lengths = np.fromiter(map(len, spelled), dtype=np.int64, count=len(spelled))
    data = np.frombuffer(b"".join(spelled) + b"\0\0", dtype=np.uint8)
    starts = lengths.cumsum() - lengths
    first = np.where(lengths > 0, data[starts], np.int32(NONE))
    second = np.where(lengths > 1, data[starts + 1], np.int32(NONE))
    return TokenHeads(lengths, first, second)
