"""Basic: drop every token whose string begins another's.

The tokens that stay can be told apart in a text. But probable short tokens are dropped so that
improbable long ones can stay. (Nozaki & Murawaki 2022, "Addressing Segmentation Ambiguity in Neural
Linguistic Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence

from ..candidates import Pool
from ._base import Choices
from ._prefix_free import PrefixFree
from ._prefixes import PrefixForest


class Basic(PrefixFree):
    """Keeps the leaves of the forest, and of equal strings the most probable token."""

    def choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        for forest in forests:
            order = forest.among(pool.ids)
            pool = pool.keep(order.mask(order.leaves))
        return Choices.of(pool)
