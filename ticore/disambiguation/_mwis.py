"""MWIS: drop tokens so that no string begins another, and the most probability is kept.

The tokens kept are a maximum-weight independent set, which takes one pass over a forest. (Yan, Yang
& Song 2023, "A Secure and Disambiguating Approach for Generative Linguistic Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..candidates import Bools, Ints, Pool
from ._base import Choices
from ._prefix_free import PrefixFree
from ._prefixes import PrefixForest, Preorder


class Mwis(PrefixFree):
    """Keeps the most probability that can be kept, and of equal strings the most probable token."""

    def choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        return keep_heaviest(pool, forests)


def keep_heaviest(pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
    """Drop tokens so that none begins another in any of the forests.

    Of the ways to do so, the one that keeps the most mass is taken in the first forest; with the
    tokens that are left, the same is done in the next one.
    """
    for forest in forests:
        order = forest.among(pool.ids)
        pool = pool.keep(order.mask(heaviest(order, pool.unnormalized_probs[order.place])))
    return Choices.of(pool)


def heaviest(order: Preorder, mass: Ints) -> Bools:
    """The strings of most mass together of which none begins another: bool[n].

    Of a string and all those that it begins, one can keep either the string alone, or the best of
    each of its children. Where both have equal mass the children stay: they leave more choices.

    Args:
        order: n strings.
        mass: int64[n], the mass of each.
    """
    most, alone = mass.copy(), order.leaves
    for parents, children in reversed(list(pairwise(order.levels()))):
        sums = np.concatenate(([0], np.cumsum(most[children])))
        first, stop = np.searchsorted(children, [parents, order.stop[parents]])
        below = sums[stop] - sums[first]
        most[parents] = np.maximum(mass[parents], below)
        alone[parents] |= mass[parents] > below
    return order.outermost(alone)
