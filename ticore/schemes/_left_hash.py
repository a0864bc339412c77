"""LeftHash: the token before decides which tokens are green.

Source: Kirchenbauer et al., "A Watermark for Large Language Models" (2023), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._green_list import GreenList
from ._keyed_numbers import PreparedTokens


class LeftHash(GreenList):
    """One green list for each token that may stand before."""

    name: ClassVar[str] = "left_hash"
    context: ClassVar[int] = 1

    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        return self._numbers.seed(before)
