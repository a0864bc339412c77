"""SyncPool: tokens whose strings begin one another stand as one group, and none is dropped.

The message chooses the group, with the probability of all its tokens, and random numbers that both
sides share choose the token in it. So tokens come out as probable as the model has them, and the
reader, who draws the same tokens, needs to tell apart only those of different groups. (Qi, Chen,
Zeng, Zhang & Yu 2024, "Provably Secure Disambiguating Neural Linguistic Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..candidates import MASS_BITS, Ints, Pool
from ..draws import Bits
from .base import Choices
from .mwis import Mwis
from .prefixes import Forest

_DRAW_BITS = 128  # scaled to a group's sum, a draw is uniform but for 2^-128


class SyncPool(Mwis):
    """A choice is a group of tokens, and comes with the token that was drawn from it.

    The draws come from a key for one text, and the text itself carries the nonce of that key. The
    choices before it is known, and `share` is called, are those of MWIS.
    """

    def choose(self, pool: Pool, forests: Sequence[Forest], shared: Bits | None) -> Choices:
        if shared is None:
            return super().choose(pool, forests, shared)
        group = _joined([forest.trees(pool.ids) for forest in forests])
        order = np.argsort(group, kind="stable")  # the most probable token of a group comes first
        start = np.flatnonzero(np.diff(group[order], prepend=-1))
        mass = pool.mass[order]
        sums = np.add.reduceat(mass, start)

        # One number serves all groups, as only one of them is chosen.
        draw = shared.take(_DRAW_BITS)
        inside = [draw * size >> _DRAW_BITS for size in sums.tolist()]
        through = np.cumsum(mass)
        at = np.searchsorted(through, through[start] - mass[start] + inside, side="right")
        drawn = order[np.where(sums > 0, at, start)]

        ranking = np.argsort(-sums, kind="stable")  # of equal ones, by their first tokens
        excess = max(0, (int(sums.max()) - 1).bit_length() - MASS_BITS)
        choice = np.empty(len(order), dtype=np.int64)
        choice[order] = np.repeat(np.argsort(ranking), np.diff(start, append=len(order)))
        return Choices(pool.ids[drawn[ranking]], sums[ranking] >> excess, pool, choice)


def _joined(labels: Sequence[Ints]) -> Ints:
    """Groups of tokens such that two that share any label share the group: int64[n].

    A group has the number of its first token.

    >>> _joined([np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 2])]).tolist()
    [0, 0, 0, 3, 3]
    """
    group: Ints = np.arange(len(labels[0]))
    while True:
        before = group
        for label in labels:
            least = np.full(label.max() + 1, len(group))
            np.minimum.at(least, label, group)
            group = least[label]
        if np.array_equal(group, before):
            return group
