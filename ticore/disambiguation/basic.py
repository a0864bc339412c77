"""Basic: drop every token whose string begins another's.

What is left can be told apart in a text, but probable short tokens go for the sake of improbable
long ones. (Nozaki & Murawaki 2022, "Addressing Segmentation Ambiguity in Neural Linguistic
Steganography".)
"""

from __future__ import annotations

from collections.abc import Sequence

from ..candidates import Pool
from ..draws import Bits
from .base import Choices
from .by_bytes import ByBytes
from .prefixes import Forest


class Basic(ByBytes):
    """Keeps the leaves of the forest; of equal strings the most probable token."""

    def choose(self, pool: Pool, forests: Sequence[Forest], shared: Bits | None) -> Choices:
        for forest in forests:
            order = forest.among(pool.ids)
            pool = pool.keep(order.mask(order.leaves))
        return Choices.of(pool)
