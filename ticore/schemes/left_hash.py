"""LeftHash: the token before decides which tokens are green.

Kirchenbauer et al., "A Watermark for Large Language Models" (2023), algorithm 2.
"""

from __future__ import annotations

from typing import ClassVar

from .green_list import GreenList
from .keyed import Words


class LeftHash(GreenList):
    """A green list for each token that may stand before."""

    name: ClassVar[str] = "left_hash"
    context: ClassVar[int] = 1

    def _seeds(self, before: Words, tokens: Words) -> Words:
        return self._key.seed([before[..., 0]])
