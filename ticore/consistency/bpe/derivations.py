"""How best-first BPE builds each token out of its atoms, found without running it.

BPE merges the most urgent pair of neighbours first, of equally urgent ones the leftmost. Time is
measured here by the *clock* of a run: the highest rank merged so far. Two runs side by side that do
not touch each other interleave by their clocks, at equal readings the left one first; so whether
they do touch follows from a few numbers about each token's own run:

- `clock`: the reading at the end of its run, -1 for an atom;
- `left`, `right`: the two parts that its last merge joined;
- `left_peak`, `right_peak`: the highest rank merged while the left (right) part stood ready.

A part p of a token t therefore exists from clock[p] to clock[t]. Its peak is clock[t] too, unless
it was made and used up at one reading of the clock, which happens where a rule is more urgent than
those that make its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...interfaces import TokenizerStructure

Ints = npt.NDArray[np.int32]

NEVER = np.iinfo(np.int32).max
"""The clock at which a whole token is used up: no merge of its own run does it."""


@dataclass(frozen=True, eq=False)
class Rules:
    """What may merge: arrays int32[n] of ids and of ranks, least first. No pair occurs twice."""

    left: Ints
    right: Ints
    result: Ints
    rank: Ints


@dataclass(frozen=True, eq=False)
class Derivations:
    """The run of each token, as arrays int32[vocab_size]; see above.

    Attributes:
        reachable: bool[vocab_size], tokens that BPE gives for their own text.
        left, right: -1 for atoms and for what is not reachable.
    """

    reachable: npt.NDArray[np.bool_]
    left: Ints
    right: Ints
    clock: Ints
    left_peak: Ints
    right_peak: Ints


def rules(structure: TokenizerStructure, spelled: Sequence[bytes]) -> Rules:
    """The rules of a BPE structure, where `spelled[i]` are the bytes of id i."""
    if structure.merges is not None:
        # Of two rules for a pair the later one holds.
        latest = {(a, b): (c, n) for n, (a, b, c) in enumerate(structure.merges.tolist())}
        found = [(a, b, c, n) for (a, b), (c, n) in latest.items()]
    else:
        found = list(_splits(structure, spelled))
    table = np.array(found, dtype=np.int32).reshape(-1, 4)
    return Rules(*(np.ascontiguousarray(column) for column in table.T))


def _splits(
    structure: TokenizerStructure, spelled: Sequence[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """Every piece with every way to put it together out of two pieces."""
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
    """The pieces that merging starts from."""
    if structure.atoms == "bytes":
        return [i for i in np.flatnonzero(structure.pieces).tolist() if len(spelled[i]) == 1]
    return [i for i in np.flatnonzero(structure.pieces).tolist() if len(spelled[i].decode()) == 1]


class PairTest:
    """Whether BPE keeps two neighbours apart, for tokens whose derivations are known.

    The first merge across the boundary would join some u at the right edge of the left token with
    some s at the left edge of the right token. It happens iff there is a rule for them, of rank c,
    they exist at the same time, and meanwhile c gets its turn.
    """

    def __init__(self, known: Rules, vocab_size: int) -> None:
        self._width = vocab_size
        keys = known.left.astype(np.int64) * vocab_size + known.right
        self._ranks = dict(zip(keys.tolist(), known.rank.tolist(), strict=True))
        self.left, self.right = [-1] * vocab_size, [-1] * vocab_size
        self.clock = [-1] * vocab_size
        self.left_peak, self.right_peak = [-1] * vocab_size, [-1] * vocab_size

    def merges(self, left: int, right: int, *, whole: bool = True) -> bool:
        """Whether something merges across the boundary of two reachable tokens.

        Args:
            whole: a rule for the two tokens as they are counts as well.
        """
        ranks, clock, width = self._ranks, self.clock, self._width
        u, u_ends, u_peak = left, NEVER, NEVER
        while u >= 0:
            s, s_ends, s_peak = right, NEVER, NEVER
            row = u * width
            while s >= 0 and clock[u] <= s_ends:
                rank = ranks.get(row + s, NEVER)
                if (
                    rank < u_peak
                    and rank <= s_peak
                    and clock[s] < u_ends
                    and (whole or u_ends != NEVER or s_ends != NEVER)
                ):
                    return True
                s, s_ends, s_peak = self.left[s], clock[s], self.left_peak[s]
            u, u_ends, u_peak = self.right[u], clock[u], self.right_peak[u]
        return False

    def derive(self, left: int, right: int, result: int, rank: int) -> None:
        """Note that the run of `result` ends by merging `left` and `right`."""
        first, second = self.clock[left], self.clock[right]
        clock = max(first, second, rank)
        self.left[result], self.right[result], self.clock[result] = left, right, clock
        # At one reading of the clock the left part's merges come before the right part's.
        self.left_peak[result] = rank if first == clock != second else clock
        self.right_peak[result] = rank if second == clock else clock


def derive(structure: TokenizerStructure, spelled: Sequence[bytes], known: Rules) -> Derivations:
    """The derivation of every token, short ones before those they are part of."""
    size = len(spelled)
    test = PairTest(known, size)
    reachable = [False] * size
    for atom in atoms(structure, spelled):
        reachable[atom] = True
    lengths = np.array([len(text) for text in spelled])
    order = np.argsort(lengths[known.result], kind="stable")
    columns = (known.left, known.right, known.result, known.rank)
    for a, b, c, rank in zip(*(column[order].tolist() for column in columns), strict=True):
        if (
            reachable[a]
            and reachable[b]
            and not reachable[c]
            and not test.merges(a, b, whole=False)
        ):
            test.derive(a, b, c, rank)
            reachable[c] = True
    fields = (test.left, test.right, test.clock, test.left_peak, test.right_peak)
    arrays = (np.array(values, dtype=np.int32) for values in fields)
    return Derivations(np.array(reachable), *arrays)
