"""Which tokens each token merges with, for many tokens at once: intervals of their places.

A token's place is its number in preorder (`pair_table`). In this order the tokens that a left token
merges with are a few intervals, thirty on average, where one bit per pair would take gigabytes.

Side by side the tokens of a batch take a fraction of the time that they take one by one, since a
call of NumPy's functions costs more than what it does for one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.packed_bits import Words, word_count
from .merge_rules import Ints
from .pair_table import PairTable
from .rule_index import NEVER

_AT_ONCE = 2048  # left tokens; a chunk of them meets some millions of rules


class MergingIntervals(NamedTuple):
    """The intervals of each token. They are apart from each other, and in order.

    Attributes:
        offsets: int64[vocab_size + 2], those of token t are offsets[t] up to offsets[t + 1]. One
            that is not reachable merges with all; and so does "no token", number vocab_size.
        starts, ends: int32[n], the places from a start up to its end, which is not included.
    """

    offsets: npt.NDArray[np.int64]
    starts: Ints
    ends: Ints


def merging_intervals(table: PairTable) -> MergingIntervals:
    """The intervals of a vocabulary; takes some seconds for 150,000 tokens."""
    size = len(table.preorder)
    chunks = [
        _intervals_of(table, np.arange(first, min(first + _AT_ONCE, size)))
        for first in range(0, size, _AT_ONCE)
    ]
    left, starts, ends = (
        np.concatenate([*(chunk[n] for chunk in chunks), [last]])
        for n, last in enumerate((size, 0, size))
    )
    offsets = np.searchsorted(left, np.arange(size + 2))
    return MergingIntervals(
        offsets.astype(np.int64), starts.astype(np.int32), ends.astype(np.int32)
    )


def packed_merging(table: PairTable, tokens: Sequence[int]) -> Words:
    """The tokens that each of some tokens merges with, with one bit per token.

    Args:
        table: of a vocabulary.
        tokens: different reachable ids, in order.

    Returns:
        uint32[len(tokens), word_count(vocab_size)].
    """
    lefts = np.array(tokens, dtype=np.int64)
    left, starts, ends = _intervals_of(table, lefts)
    lengths = ends - starts
    total = lengths.cumsum()
    places = np.arange(lengths.sum()) + np.repeat(starts - total + lengths, lengths)
    words, bits = table.bit_at_place
    merging = np.zeros((len(lefts), word_count(len(table.preorder))), dtype=np.uint32)
    first_word = merging.shape[1] * np.searchsorted(lefts, left)
    at = words.take(places)
    at += np.repeat(first_word, lengths)
    # Intervals are apart, so no bit is added twice. For a bitwise "or" NumPy takes seven times as
    # long.
    np.add.at(merging.reshape(-1), at, bits.take(places))
    return merging


def _intervals_of(
    table: PairTable, tokens: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(left token, start, end) of some tokens: int64[n] each, in order.

    It is the loop of `PairTable.unmerged_after`, for all these tokens side by side.
    """
    is_reachable = table.reachable[tokens]
    others = tokens[~is_reachable]
    found = [(others, np.zeros_like(others), np.full_like(others, len(table.preorder)))]
    left = tokens[is_reachable]
    u: npt.NDArray[np.integer] = left
    used_up_at: npt.NDArray[np.integer] = np.full(len(u), NEVER)
    deadline = used_up_at
    while len(u):
        counts = table.first_rule[u + 1] - table.first_rule[u]
        at = np.repeat(np.arange(len(u)), counts)
        rules = np.arange(len(at)) + np.repeat(
            table.first_rule[u] - counts.cumsum() + counts, counts
        )
        is_live = (used_up_at[at] == NEVER) | (
            (table.rank[rules] < deadline[at]) & (table.right_made_at[rules] < used_up_at[at])
        )
        at, rules = at[is_live], rules[is_live]
        found.append((left[at], table.whole[rules], table.whole[rules] + 1))
        found.append((left[at], table.begin[rules], table.end[rules]))
        has_parts = table.right_part[u] >= 0
        left, u = left[has_parts], u[has_parts]
        used_up_at, deadline = table.made_at[u], table.right_deadline[u]
        u = table.right_part[u]
    return _united(*(np.concatenate(column, dtype=np.int64) for column in zip(*found, strict=True)))


def _united(
    left: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The same places as intervals that are apart, in order."""
    # As one number each they are sorted several times as fast as by an order of indices.
    bits = int(ends.max(initial=0)).bit_length()
    assert 3 * bits < 64, "expected a vocabulary of fewer than two million tokens"
    in_order = np.sort((left << 2 * bits | starts << bits | ends)[starts < ends])
    lowest, begins = (1 << bits) - 1, in_order >> bits
    # The furthest end so far. That of an earlier token is before every interval of a later one.
    furthest = np.maximum.accumulate((begins & ~lowest) | (in_order & lowest))
    apart = begins[1:] > furthest[:-1]
    is_first, is_last = np.ones((2, len(begins)), dtype=bool)
    is_first[1:] = is_last[:-1] = apart
    begins = begins[is_first]
    return begins >> bits, begins & lowest, furthest[is_last] & lowest
