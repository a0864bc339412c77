"""SyncPool: tokens whose strings begin one another form a group, and no token is dropped.

The message chooses the group, with the probability of all its tokens. Random numbers that both
sides share choose the token in the group. So each token has the probability that the model gives
it. The reader draws the same tokens and only has to tell the groups apart. (Qi, Chen,
Zeng, Zhang & Yu 2024, "Provably Secure Disambiguating Neural Linguistic Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._support.shared_randomness import RandomBitStream, SharedRandomness
from ..candidates import PROB_BITS, Ints, Pool
from ._base import Choices
from ._mwis import keep_heaviest
from ._prefix_free import PrefixFree, PrefixFreeSession
from ._prefixes import PrefixForest

_DRAW_BITS = 128  # a draw, scaled to the mass of a group, is uniform to 2^-128


class SyncPool(PrefixFree):
    """A choice is a group of tokens, and it writes the token that is drawn from the group.

    The random numbers need a key for this one text. That key depends on the nonce, with which the
    text itself begins. Until `share` is called, the choices are those of MWIS.
    """

    def start(self) -> SyncPoolSession:
        return SyncPoolSession(self)

    def choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        return keep_heaviest(pool, forests)


class SyncPoolSession(PrefixFreeSession):
    """A SharingSession."""

    _randomness: SharedRandomness | None = None
    _step = 0

    def push(self, token: int) -> None:
        super().push(token)
        self._step += 1

    def share(self, randomness: SharedRandomness) -> None:
        self._randomness = randomness

    def _choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        if self._randomness is None:
            return super()._choose(pool, forests)
        return choose_groups(pool, forests, self._randomness.at(self._step))


def choose_groups(pool: Pool, forests: Sequence[PrefixForest], numbers: RandomBitStream) -> Choices:
    """The groups of tokens whose strings begin one another, each with the token drawn from it.

    Args:
        pool: the tokens.
        forests: tokens in one tree of any of these are in one group.
        numbers: the random numbers of this step.
    """
    group = _joined([forest.trees(pool.ids) for forest in forests])
    order = np.argsort(group, kind="stable")  # the most probable token of a group comes first
    start = np.flatnonzero(np.diff(group[order], prepend=-1))
    mass = pool.unnormalized_probs[order]
    sums = np.add.reduceat(mass, start)

    # One number serves all groups, as only one of them is chosen.
    draw = numbers.take(_DRAW_BITS)
    inside = [draw * size >> _DRAW_BITS for size in sums.tolist()]
    through = np.cumsum(mass)
    at = np.searchsorted(through, through[start] - mass[start] + inside, side="right")
    drawn = order[np.where(sums > 0, at, start)]

    ranking = np.argsort(-sums, kind="stable")  # of equal ones, by their first tokens
    excess = max(0, (int(sums.max()) - 1).bit_length() - PROB_BITS)
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
