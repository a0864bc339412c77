"""One BPE vocabulary, ready for the pair test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...interfaces import TokenizerStructure
from ..engine import Bools
from ..modes import beginnings
from ..recent import Recent
from .derivations import Rules, derive, rules
from .rows import Rows, column, expect
from .rows import rows as lay_out

_BYTES_FOR_ROWS = 32 << 20


@dataclass(frozen=True, eq=False)
class Tables:
    """What is computed once about a vocabulary.

    Attributes:
        rows: the pair test's tables.
        alone: bool[vocab_size], pieces that merging does not give, but that stay whole where they
            are a part of their own (`ignore_merges`).
        replaced: what merging gives instead of these: as a part of their own such lists of tokens
            are never right.
        before: for the tokens that a text may go on with in mode `viable`, bool[vocab_size]: what
            stays apart in front of them.
    """

    rows: Rows
    alone: Bools
    replaced: frozenset[tuple[int, ...]]
    before: Mapping[int, Bools]

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The tables as arrays; `from_arrays` is the way back."""
        flat = [token for tokens in sorted(self.replaced) for token in (*tokens, -1)]
        return {
            **{f"rows_{field.name}": getattr(self.rows, field.name) for field in fields(Rows)},
            "alone": self.alone,
            "replaced": np.array(flat, dtype=np.int32),
            "followers": np.array(list(self.before), dtype=np.int32),
            "before": np.array(list(self.before.values()), dtype=bool),
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], spelled: Sequence[bytes]
    ) -> Tables:
        """The tables of ids that are `spelled` so; raises whatever it may if they do not fit."""
        size = len(spelled)
        rows = {
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
        before = dict(zip(arrays["followers"].tolist(), arrays["before"], strict=True))
        found = cls(Rows(**rows), arrays["alone"], frozenset(replaced), before)
        found.rows.check(spelled)
        expect(found.alone.shape == (size,) and found.alone.dtype == bool)
        expect(all(row.shape == (size,) and row.dtype == bool for row in before.values()))
        expect(all(0 <= token < size for token in (*before, *chain(*replaced))))
        return found


def build(structure: TokenizerStructure, spelled: Sequence[bytes]) -> Tables:
    """The tables of a BPE structure, where `spelled[i]` are the bytes of id i."""
    known = rules(structure, spelled)
    runs = derive(structure, spelled, known)
    hidden = structure.pieces & ~runs.reachable
    if not structure.ignore_merges:
        hidden = np.zeros_like(hidden)
    tables = Tables(lay_out(known, runs), hidden, _replaced(structure, spelled, known, hidden), {})
    plain = Vocabulary(tables, spelled)
    followers = {token for text in beginnings() for token in plain.segment(text.encode())[:1]}
    return replace(tables, before={token: column(known, runs, token) for token in followers})


class Vocabulary:
    """The pair test of one vocabulary.

    Args:
        tables: see `build`.
        spelled: the bytes of every id.
    """

    def __init__(self, tables: Tables, spelled: Sequence[bytes]) -> None:
        self.reachable = tables.rows.reachable
        self.alone = tables.alone
        self.replaced = tables.replaced
        self._rows = tables.rows
        self.before = tables.before
        self._size = len(spelled)
        self._packed: Recent[int, bytes] = Recent(max(64, _BYTES_FOR_ROWS * 8 // len(spelled)))
        self._ids = {spelled[i]: i for i in np.flatnonzero(self.reachable).tolist()}

    def row(self, left: int) -> Bools:
        """bool[vocab_size]: reachable tokens that `left` followed by them keeps apart."""
        packed = np.frombuffer(self._pack(left), dtype=np.uint8)
        return np.unpackbits(packed, count=self._size, bitorder="little").view(bool)

    def apart(self, left: int, right: int) -> bool:
        """Whether the reachable tokens `left` and `right` stay two tokens in one part."""
        if (before := self.before.get(right)) is not None:
            return bool(before[left])
        if left in self._packed:
            return bool(self._pack(left)[right >> 3] >> (right & 7) & 1)
        return self._rows.apart(left, right)

    def segment(self, data: bytes) -> tuple[int, ...]:
        """The tokens of a few bytes inside a part, empty if there are none.

        Of all the ways to cut them there is one in which all neighbours stay apart.
        """
        for end in range(len(data), 0, -1):
            first = self._ids.get(data[:end])
            if first is None:
                continue
            if end == len(data):
                return (first,)
            rest = self.segment(data[end:])
            if rest and self.apart(first, rest[0]):
                return (first, *rest)
        return ()

    def _pack(self, left: int) -> bytes:
        return self._packed.get(
            left, lambda: np.packbits(self._rows.row(left), bitorder="little").tobytes()
        )


def _replaced(
    structure: TokenizerStructure, spelled: Sequence[bytes], known: Rules, hidden: Bools
) -> frozenset[tuple[int, ...]]:
    """What merging gives for each hidden piece."""
    if not hidden.any():
        return frozenset()
    columns = (known.left, known.right, known.rank, known.result)
    merged = {
        (a, b): (rank, c) for a, b, rank, c in zip(*map(np.ndarray.tolist, columns), strict=True)
    }
    by_text = {spelled[i]: i for i in np.flatnonzero(structure.pieces).tolist()}
    found = []
    for piece in np.flatnonzero(hidden).tolist():
        tokens = [by_text[bytes([byte])] for byte in spelled[piece]]
        while pairs := [
            (*merged[pair], at) for at, pair in enumerate(pairwise(tokens)) if pair in merged
        ]:
            _, result, at = min(pairs, key=lambda pair: (pair[0], pair[2]))
            tokens[at : at + 2] = [result]
        found.append(tuple(tokens))
    return frozenset(found)
