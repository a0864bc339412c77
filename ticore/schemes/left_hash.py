"""LeftHash: the token before decides which tokens are green.

Kirchenbauer et al., "A Watermark for Large Language Models" (2023), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .green_list import GreenList
from .numbers import Tokens


class LeftHash(GreenList):
    """A green list for each token that may stand before."""

    name: ClassVar[str] = "left_hash"
    context: ClassVar[int] = 1

    def _seed(self, before: Sequence[Tokens], tokens: Tokens) -> Any:
        return self._numbers.seed(before)
