"""SelfHash: one of the last four tokens decides which tokens are green, the candidate included.

Source: Kirchenbauer et al., "On the Reliability of Watermarks for Large Language Models" (2023),
section 3. A list depends on the least hash in a window, so most edits elsewhere in the window do
not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._green_list import GreenList
from ._keyed_numbers import PreparedTokens


class SelfHash(GreenList):
    """One list for each pair of a token and the token of its window with the least number."""

    name: ClassVar[str] = "self_hash"
    context: ClassVar[int] = 3
    """The window has four tokens, the candidate included, as in the paper's experiments."""

    _uses_candidate: ClassVar[bool] = True

    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        return self._numbers.least_seed(before, tokens)
