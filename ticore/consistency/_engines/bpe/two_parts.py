"""Every way to cut texts in two such that both parts are among the texts themselves.

All cuts of all texts are looked up at once by hashes of the parts, and what is found is compared.
The hash of a part follows from sums up to its two ends: a polynomial of its bytes, modulo 2**64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..._arrays import Bools
from .key_index import KeyIndex

_BASE = 0x9E3779B97F4A7C15  # odd, so that it can be divided by, modulo 2**64
_INVERSE = pow(_BASE, -1, 1 << 64)

Positions = npt.NDArray[np.int64]


def cut_in_two(texts: Sequence[bytes]) -> tuple[Positions, Positions, Positions]:
    """The cuts of each text into two others, by text, the shortest left part first.

    Where a text comes twice, the last one stands for it in the parts.

    Args:
        texts: none of them empty.

    Returns:
        int64[cuts]: the positions in `texts` of the left part, of the right part, of the whole.
    """
    lengths = np.array(list(map(len, texts)), dtype=np.int64)
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    powers, inverses = _powers(_BASE, len(data) + 1), _powers(_INVERSE, len(data) + 1)
    sums = np.zeros(len(data) + 1, dtype=np.uint64)
    np.cumsum((data + np.uint64(1)) * powers[:-1], out=sums[1:])
    hashes = (sums[ends] - sums[starts]) * inverses[starts]
    last = {text: at for at, text in enumerate(texts)}
    different = np.fromiter(last.values(), dtype=np.int64, count=len(last))
    in_order = np.sort(hashes[different])
    if (in_order[1:] == in_order[:-1]).any():
        return _cut_one_by_one(texts, last)
    index = KeyIndex(hashes[different])

    whole = np.repeat(np.arange(len(texts)), np.maximum(lengths - 1, 0))
    is_inside = np.ones(len(data) + 1, dtype=bool)
    is_inside[starts] = is_inside[-1] = False
    cuts = np.flatnonzero(is_inside)
    found = index.find((sums[cuts] - sums[starts[whole]]) * inverses[starts[whole]])
    some = np.flatnonzero(found >= 0)
    cuts, whole, left = cuts[some], whole[some], different[found[some]]
    found = index.find((sums[ends[whole]] - sums[cuts]) * inverses[cuts])
    some = np.flatnonzero(found >= 0)
    cuts, whole, left, right = cuts[some], whole[some], left[some], different[found[some]]
    is_equal = _are_equal(data, starts[left], starts[whole], lengths[left], cuts - starts[whole])
    is_equal &= _are_equal(data, starts[right], cuts, lengths[right], ends[whole] - cuts)
    return left[is_equal], right[is_equal], whole[is_equal]


def _are_equal(
    data: npt.NDArray[np.uint8],
    a: Positions,
    b: Positions,
    a_lengths: Positions,
    lengths: Positions,
) -> Bools:
    """Whether the bytes from a[i] on are those from b[i] on, and as many: bool[n].

    Args:
        a_lengths, lengths: how many bytes there are on the two sides, at least one each.
    """
    shorter = np.minimum(a_lengths, lengths)
    firsts = np.cumsum(shorter) - shorter
    each = np.arange(shorter.sum()) - np.repeat(firsts, shorter)
    same = data[np.repeat(a, shorter) + each] == data[np.repeat(b, shorter) + each]
    if not len(firsts):
        return np.zeros(0, dtype=bool)
    equal: Bools = np.logical_and.reduceat(same, firsts) & (a_lengths == lengths)
    return equal


def _powers(base: int, count: int) -> npt.NDArray[np.uint64]:
    """The powers of `base` modulo 2**64, from 1 on."""
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


def _cut_one_by_one(
    texts: Sequence[bytes], last: dict[bytes, int]
) -> tuple[Positions, Positions, Positions]:
    """The same where two different texts have one hash."""
    found = [
        (left, right, whole)
        for whole, text in enumerate(texts)
        for at in range(1, len(text))
        if (left := last.get(text[:at])) is not None and (right := last.get(text[at:])) is not None
    ]
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]
