"""What may merge with what: one table of rules, whichever way a tokenizer's file states them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....interfaces import TokenizerStructure

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class MergeRules:
    """Rule n merges `left[n]` and `right[n]` into `result[n]`. No pair occurs twice.

    Attributes:
        left, right, result: int32[n], token ids.
        rank: int32[n]. BPE merges the pair of the lowest rank first.
    """

    left: Ints
    right: Ints
    result: Ints
    rank: Ints


def merge_rules(structure: TokenizerStructure, spelled: Sequence[bytes]) -> MergeRules:
    """The rules of a BPE structure.

    Args:
        structure: has either `merges` (a list of rules) or `ranks` (a rank for each piece).
        spelled: the bytes of every id.
    """
    if structure.merges is not None:
        # Where a list has two rules for one pair, the later one counts.
        latest = {(a, b): (c, n) for n, (a, b, c) in enumerate(structure.merges.tolist())}
        found = [(a, b, c, n) for (a, b), (c, n) in latest.items()]
    else:
        found = list(_rules_from_ranks(structure, spelled))
    table = np.array(found, dtype=np.int32).reshape(-1, 4)
    return MergeRules(*(np.ascontiguousarray(column) for column in table.T))


def _rules_from_ranks(
    structure: TokenizerStructure, spelled: Sequence[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """One rule for every way to cut a piece into two pieces, with the rank of the whole."""
    assert structure.ranks is not None
    pieces = np.flatnonzero(structure.pieces).tolist()
    ids = {spelled[piece]: piece for piece in pieces}
    ranks = structure.ranks.tolist()
    for piece in pieces:
        text = spelled[piece]
        for at in range(1, len(text)):
            left = ids.get(text[:at])
            if left is not None and (right := ids.get(text[at:])) is not None:
                yield left, right, piece, ranks[piece]


def atoms(structure: TokenizerStructure, spelled: Sequence[bytes]) -> list[int]:
    """The pieces that merging starts from: single bytes, or single characters."""
    pieces = np.flatnonzero(structure.pieces).tolist()
    if structure.atoms == "bytes":
        return [i for i in pieces if len(spelled[i]) == 1]
    return [i for i in pieces if len(spelled[i].decode()) == 1]
