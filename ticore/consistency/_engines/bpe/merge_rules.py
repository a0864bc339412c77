"""What may merge with what: one table of rules, whichever way a tokenizer's file states them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....interfaces import TokenizerStructure
from .two_parts import cut_in_two

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
    if structure.merges is None:
        return _rules_from_ranks(structure, spelled)
    left, right, result = structure.merges.T
    # Where a list has two rules for one pair, the later one counts, in the place of the first.
    pairs = left.astype(np.int64) << 32 | right
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    last = np.zeros_like(first)
    last[which] = np.arange(len(pairs))
    latest = last[np.argsort(first)].astype(np.int32)
    return MergeRules(left[latest], right[latest], result[latest], latest)


def _rules_from_ranks(structure: TokenizerStructure, spelled: Sequence[bytes]) -> MergeRules:
    """One rule for every way to cut a piece into two pieces, with the rank of the whole."""
    assert structure.ranks is not None
    pieces = np.flatnonzero(structure.pieces).astype(np.int32)
    left, right, whole = cut_in_two([spelled[piece] for piece in pieces.tolist()])
    ranks = structure.ranks.astype(np.int32)[pieces[whole]]
    return MergeRules(pieces[left], pieces[right], pieces[whole], ranks)


def atoms(structure: TokenizerStructure, spelled: Sequence[bytes]) -> list[int]:
    """The pieces that merging starts from: single bytes, or single characters."""
    pieces = np.flatnonzero(structure.pieces).tolist()
    if structure.atoms == "bytes":
        return [i for i in pieces if len(spelled[i]) == 1]
    return [i for i in pieces if len(spelled[i].decode()) == 1]
