"""The pair test of one vocabulary as the engines use it, and the tables that are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.caches import BoundedCache
from ...._support.packed_bits import Words, has_bit, pack, unpack
from ....interfaces import TokenizerStructure
from ..._arrays import Bools
from ..._modes import beginnings
from .merge_rules import MergeRules, merge_rules
from .merge_trees import grow_merge_trees
from .merging import merge_side_by_side
from .merging_intervals import packed_merging
from .pair_table import PairTable, build_pair_table, expect

_BYTES_FOR_ROWS = 32 << 20
# Of 12 bytes for each word; most have tens of them.
_CACHED_CHANGES, _MOST_CHANGED = 10_000, 256
_FEW = 12  # rows that take no longer one by one


@dataclass(frozen=True, eq=False)
class BpeTables:
    """What is computed once for a vocabulary and then stored.

    `ignore_merges` lets a piece stand for a whole part. With the rules 0: a+b, 1: b+c and the piece
    abc, merging gives `ab c` for the text abc. As a part of its own that text is the one token abc;
    in a longer part it is never abc.

    Attributes:
        pairs: the table of the pair test.
        whole_part_only: bool[vocab_size], pieces such as abc: no merges give them, and they come
            only as a part of their own.
        replaced: lists of tokens such as (ab, c): merging gives them, but as a part of their own
            another token stands for them.
        unmerged_before: for each token that a text may go on with in mode `viable`, the tokens it
            does not merge with before it, bool[vocab_size].
    """

    pairs: PairTable
    whole_part_only: Bools
    replaced: frozenset[tuple[int, ...]]
    unmerged_before: Mapping[int, Bools]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The tables as arrays, by the names that cached files have; `from_arrays` reads them."""
        flat = [token for tokens in sorted(self.replaced) for token in (*tokens, -1)]
        return {
            **{f"rows_{name}": array for name, array in self.pairs.to_arrays().items()},
            "alone": self.whole_part_only,
            "replaced": np.array(flat, dtype=np.int32),
            "followers": np.array(list(self.unmerged_before), dtype=np.int32),
            "before": np.array(list(self.unmerged_before.values()), dtype=bool),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], spelled: Sequence[bytes]
    ) -> BpeTables:
        """The tables of stored arrays.

        Args:
            arrays: what `to_arrays` gave; other names are left out.
            spelled: the bytes of every id.

        Raises:
            Exception: of whatever type, where the arrays are not the tables of such ids.
        """
        size = len(spelled)
        pair_table = {
            name.removeprefix("rows_"): array
            for name, array in arrays.items()
            if name.startswith("rows_")
        }
        expect(arrays["replaced"].dtype == arrays["followers"].dtype == np.int32)
        replaced, tokens = set(), list[int]()
        for token in arrays["replaced"].tolist():
            if token >= 0:
                tokens.append(token)
            else:
                replaced.add(tuple(tokens))
                tokens = []
        columns = dict(zip(arrays["followers"].tolist(), arrays["before"], strict=True))
        pairs = PairTable.from_arrays(pair_table)
        found = cls(pairs, arrays["alone"], frozenset(replaced), columns)
        found.pairs.check(spelled)
        expect(found.whole_part_only.shape == (size,) and found.whole_part_only.dtype == bool)
        expect(all(column.shape == (size,) and column.dtype == bool for column in columns.values()))
        expect(all(0 <= token < size for token in (*columns, *chain(*replaced))))
        return found


def build_tables(structure: TokenizerStructure, spelled: Sequence[bytes]) -> BpeTables:
    """The tables of a BPE structure.

    Args:
        structure: of kind "bpe".
        spelled: the bytes of every id.
    """
    rules = merge_rules(structure, spelled)
    trees = grow_merge_trees(structure, spelled, rules)
    whole_part_only = structure.pieces & ~trees.reachable
    if not structure.ignore_merges:
        whole_part_only = np.zeros_like(whole_part_only)
    replaced = _replaced(structure, spelled, rules, whole_part_only)
    tables = BpeTables(build_pair_table(rules, trees), whole_part_only, replaced, {})
    pairs = TokenPairs(tables, spelled)
    first = (pairs.segment(text.encode())[:1] for text in beginnings())
    followers = list(dict.fromkeys(chain(*first)))
    columns = tables.pairs.unmerged_before(followers)
    return replace(tables, unmerged_before=dict(zip(followers, columns, strict=True)))


class ChangedWords(NamedTuple):
    """A row of bits that is much like another one.

    Attributes:
        at: intp[n], where its words are others.
        words: uint32[n], these words.
    """

    at: npt.NDArray[np.intp]
    words: Words


class TokenPairs:
    """Which tokens may stand side by side inside a part: the pair test, with a cache of rows.

    Args:
        tables: what `build_tables` gave.
        spelled: the bytes of every id.

    Attributes:
        reachable: bool[vocab_size], tokens that BPE gives for their own text.
        whole_part_only, replaced, unmerged_before: see `BpeTables`.
        table: the table of the pair test.
        packed_reachable: `reachable` with one bit per token.
    """

    def __init__(self, tables: BpeTables, spelled: Sequence[bytes]) -> None:
        self.reachable = tables.pairs.reachable
        self.whole_part_only = tables.whole_part_only
        self.replaced = tables.replaced
        self.unmerged_before = tables.unmerged_before
        self.table = tables.pairs
        self._vocab_size = len(spelled)
        # A row takes one bit per token. Half of the tokens merge with so few that a row is told by
        # the words in which it is not that of `reachable`.
        self._packed: BoundedCache[int, Words] = BoundedCache(
            max(64, _BYTES_FOR_ROWS * 8 // len(spelled))
        )
        self._changed: BoundedCache[int, ChangedWords] = BoundedCache(_CACHED_CHANGES)
        self.packed_reachable = pack(self.reachable)
        self._spelled = spelled

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        """The reachable tokens by their bytes."""
        return {self._spelled[i]: i for i in np.flatnonzero(self.reachable).tolist()}

    def unmerged_after(self, left: int) -> Bools:
        """bool[vocab_size]: the reachable tokens that `left` does not merge with."""
        return unpack(self.packed_unmerged_after(left), self._vocab_size)

    def packed_unmerged_after(self, left: int) -> Words:
        """`unmerged_after` with one bit per token, not to be changed; see `packed_bits`."""
        found = self.unmerged_words_after(left)
        if not isinstance(found, ChangedWords):
            return found
        row = self.packed_reachable.copy()
        row[found.at] = found.words
        return row

    def unmerged_words_after(self, left: int) -> Words | ChangedWords:
        """`packed_unmerged_after`, or how it differs from `packed_reachable` if that is shorter."""
        found = self._changed.peek(left) or self._packed.peek(left)
        if found is not None:
            return found
        row = self.table.packed_unmerged_after(left)
        return self._keep(left, row, np.flatnonzero(row != self.packed_reachable))

    def unmerged_words_after_each(self, lefts: Iterable[int]) -> dict[int, Words | ChangedWords]:
        """`unmerged_words_after` by token. New ones are made together, which takes less time."""
        found, missing = dict[int, Words | ChangedWords](), list[int]()
        for left in set(lefts):
            row = self._changed.peek(left) or self._packed.peek(left)
            if row is not None:
                found[left] = row
            else:
                missing.append(left)
        together = sorted(left for left in missing if self.reachable[left])
        if len(together) >= _FEW:
            found |= self._make_together(together)
        for left in missing:
            if left not in found:
                found[left] = self.unmerged_words_after(left)
        return found

    def _make_together(self, lefts: Sequence[int]) -> dict[int, Words | ChangedWords]:
        """The rows of reachable tokens, in order."""
        rows = packed_merging(self.table, lefts)
        at = np.flatnonzero(rows.reshape(-1) != 0)
        rows ^= self.packed_reachable  # only reachable tokens merge
        length = rows.shape[1]
        ends = np.searchsorted(at, length * np.arange(len(rows) + 1)).tolist()
        return {
            left: self._keep(left, row, at[start:end] - n * length)
            for n, (left, row, start, end) in enumerate(
                zip(lefts, rows, ends[:-1], ends[1:], strict=True)
            )
        }

    def _keep(self, left: int, row: Words, at: npt.NDArray[np.intp]) -> Words | ChangedWords:
        """Cache the row of `left`, which differs from that of `reachable` in the words `at`."""
        if len(at) > min(_MOST_CHANGED, len(row) // 8):
            return self._packed.get(left, row.copy)
        return self._changed.get(left, lambda: ChangedWords(at, row.take(at)))

    def is_cached(self, left: int) -> bool:
        """Whether the row of `left` is at hand."""
        return left in self._packed or left in self._changed

    def do_not_merge(self, left: int, right: int) -> bool:
        """Whether `left` and `right` are reachable and stay two tokens inside a part."""
        if (column := self.unmerged_before.get(right)) is not None:
            return bool(column[left])
        if (packed := self._packed.peek(left)) is not None:
            return has_bit(packed, right)
        return self.table.do_not_merge(left, right)

    def segment(self, data: bytes) -> tuple[int, ...]:
        """The canonical tokens of a few bytes inside a part; empty if some byte has no token.

        Of all the ways to cut the bytes into tokens, in exactly one no two neighbours merge.
        """
        for end in range(len(data), 0, -1):
            first = self._ids.get(data[:end])
            if first is None:
                continue
            if end == len(data):
                return (first,)
            rest = self.segment(data[end:])
            if rest and self.do_not_merge(first, rest[0]):
                return (first, *rest)
        return ()


def _replaced(
    structure: TokenizerStructure,
    spelled: Sequence[bytes],
    rules: MergeRules,
    whole_part_only: Bools,
) -> frozenset[tuple[int, ...]]:
    """What merging gives for the text of each piece in `whole_part_only`."""
    if not whole_part_only.any():
        return frozenset()
    ids = {spelled[i]: i for i in np.flatnonzero(structure.pieces).tolist() if len(spelled[i]) == 1}
    id_of_byte = np.array([ids.get(bytes([value]), -1) for value in range(256)], dtype=np.int32)
    texts = [spelled[piece] for piece in np.flatnonzero(whole_part_only).tolist()]
    lists = [id_of_byte[list(text)] for text in texts]
    # Where a byte is no token it is lost, and merging gives no tokens for such a text.
    lists = [letters for letters in lists if (letters >= 0).all()]
    return frozenset(merge_side_by_side(lists, rules)) if lists else frozenset()
