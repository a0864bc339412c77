"""Unigram: one list of green tokens for all texts.

Source: Zhao et al., "Provable Robust Watermarking for AI-Generated Text" (2023). An edit changes
the score of the edited token alone. But the list can be learnt from enough texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace

from ._array_cache import ArrayCache
from ._base import Array
from ._green_list import GreenList
from ._keyed_numbers import PreparedTokens


class Unigram(GreenList):
    """One green list, whatever the context."""

    name: ClassVar[str] = "unigram"
    context = 0

    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        return self._numbers.seed([self._numbers.any_tokens(0)])

    @cached_property
    def _lists(self) -> ArrayCache:
        return ArrayCache()

    def _added(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """What `bias` adds; there is one list, so it is cached."""

        def made() -> Any:
            like_numpy = np.empty(0)
            return self._greens((), self.vocab_size, like_numpy)

        greens = self._lists.get("greens", size, like, made)
        xp = array_namespace(like)
        return xp.astype(greens, like.dtype) * self.delta
