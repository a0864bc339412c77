"""SelfHash: one of the last tokens decides, the candidate itself among them.

Kirchenbauer et al., "On the Reliability of Watermarks for Large Language Models" (2023), section 3:
a list depends on the least hash of a window, so an edit elsewhere in the window mostly leaves it.
"""

from __future__ import annotations

from typing import ClassVar

from array_api_compat import array_namespace

from .green_list import GreenList
from .keyed import Words, number


class SelfHash(GreenList):
    """A list for the pair of a token and whichever of its window has the least number with it."""

    name: ClassVar[str] = "self_hash"
    context: ClassVar[int] = 3
    """With the candidate itself the window has four tokens, as in the paper's experiments."""

    def _seeds(self, before: Words, tokens: Words) -> Words:
        minimum = array_namespace(tokens).minimum
        own = self._key.seed([tokens])
        least = number(own, tokens)
        for at in range(self.context):
            least = minimum(least, number(own, before[..., at]))
        return least
