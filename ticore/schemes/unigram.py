"""Unigram: one list of green tokens for all texts.

Zhao et al., "Provable Robust Watermarking for AI-Generated Text" (2023). An edit harms no token but
its own; in return the list can be learnt from enough texts.
"""

from __future__ import annotations

from typing import ClassVar

from .green_list import GreenList
from .keyed import Words


class Unigram(GreenList):
    """One green list, whatever stands before."""

    name: ClassVar[str] = "unigram"
    context: ClassVar[int] = 0

    def _seeds(self, before: Words, tokens: Words) -> Words:
        return self._key.seed([tokens * 0])
