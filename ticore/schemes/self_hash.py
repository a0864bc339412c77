"""SelfHash: one of the last tokens decides, the candidate itself among them.

Kirchenbauer et al., "On the Reliability of Watermarks for Large Language Models" (2023), section 3:
a list depends on the least hash of a window, so an edit elsewhere in the window mostly leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .green_list import GreenList
from .numbers import Tokens


class SelfHash(GreenList):
    """A list for the pair of a token and whichever of its window has the least number with it."""

    name: ClassVar[str] = "self_hash"
    context: ClassVar[int] = 3
    """With the candidate itself the window has four tokens, as in the paper's experiments."""

    _needs_own: ClassVar[bool] = True

    def _seed(self, before: Sequence[Tokens], tokens: Tokens) -> Any:
        return self._numbers.least_seed(before, tokens)
