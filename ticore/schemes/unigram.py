"""Unigram: one list of green tokens for all texts.

Zhao et al., "Provable Robust Watermarking for AI-Generated Text" (2023). An edit harms no token but
its own; in return the list can be learnt from enough texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace

from .base import Array
from .green_list import GreenList
from .numbers import Tokens
from .tables import Tables


class Unigram(GreenList):
    """One green list, whatever stands before."""

    name: ClassVar[str] = "unigram"
    context: ClassVar[int] = 0

    def _seed(self, before: Sequence[Tokens], tokens: Tokens) -> Any:
        return self._numbers.seed([self._numbers.any_tokens(0)])

    @cached_property
    def _lists(self) -> Tables:
        return Tables()

    def _added(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """There is one list, which is kept as it is added."""

        def made() -> Any:
            kind = np.empty(0)
            return self._greens((), self.vocab_size, kind)

        greens = self._lists.get("greens", size, like, made)
        xp = array_namespace(like)
        return xp.astype(greens, like.dtype) * self.delta
