"""MWIS: of all ways to drop tokens so that no string begins another, the one that keeps the most.

The tokens kept are a maximum-weight independent set, which takes one pass over a forest. (Yan, Yang
& Song 2023, "A Secure and Disambiguating Approach for Generative Linguistic Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..candidates import Bools, Ints, Pool
from ..draws import Bits
from .base import Choices
from .by_bytes import ByBytes
from .prefixes import Forest, Preorder


class Mwis(ByBytes):
    """Keeps the most probability that can be kept; of equal strings the most probable token."""

    def choose(self, pool: Pool, forests: Sequence[Forest], shared: Bits | None) -> Choices:
        for forest in forests:
            order = forest.among(pool.ids)
            pool = pool.keep(order.mask(heaviest(order, pool.mass[order.place])))
        return Choices.of(pool)


def heaviest(order: Preorder, mass: Ints) -> Bools:
    """The strings of most mass together of which none begins another: bool[n].

    Below a string and with it no more can be kept than its own mass, or what can be kept below each
    of its children. Where both are equal the children stay, which leaves more to choose from.

    Args:
        order: n strings.
        mass: int64[n], theirs.
    """
    most, alone = mass.copy(), order.leaves
    for parents, children in reversed(list(pairwise(order.levels()))):
        sums = np.concatenate(([0], np.cumsum(most[children])))
        first, stop = np.searchsorted(children, [parents, order.stop[parents]])
        below = sums[stop] - sums[first]
        most[parents] = np.maximum(mass[parents], below)
        alone[parents] |= mass[parents] > below
    return order.outermost(alone)
