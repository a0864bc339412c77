"""The few tokens that no table decides about: the tokenizer is asked, once for all alike lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...._support.caches import cached_method
from ..._tokenizer_rules.normalizers import Normalization, joining
from ..retokenizing import Oracle
from .tail_answers import AnswersAfterTails
from .token_pairs import TokenPairs

_CACHED_CONTEXTS = 4096


class AskedTokens:
    """Asks, and says which lists get the same answers. Thread-safe.

    Args:
        answers: which tokens are asked about.
        pairs: the pair test.
        normalization: of the tokenizer.
        oracle: asks the tokenizer.
    """

    def __init__(
        self,
        answers: AnswersAfterTails,
        pairs: TokenPairs,
        normalization: Normalization,
        oracle: Oracle,
    ) -> None:
        self._answers, self._pairs = answers, pairs
        self._normalization, self._oracle = normalization, oracle

    def ask(self, ids: Sequence[int], tokens: Sequence[int]) -> tuple[int, ...]:
        """Ask the tokenizer which of some tokens may follow a list."""
        return tuple(np.array(tokens)[self._oracle.admits(ids, tokens)].tolist())

    def unmerged(self, last: int) -> bytes:
        """One bit for each of `asked_by_class`: whether it does not merge with the token `last`."""
        length, data = self._unmerged_before
        return data[last * length : (last + 1) * length] if last >= 0 else b""

    def joined_context(self, text: str) -> str:
        """What the next characters may be changed together with; empty where nothing is."""
        if self._normalization.idle:
            return ""
        context = self._normalization.context(text)
        return context if self._may_change(context) else ""

    @cached_property
    def _unmerged_before(self) -> tuple[int, bytes]:
        """The bytes for each last token, and `unmerged` of all one after the other."""
        bits = np.packbits(self._pairs.table.unmerged_before(self._answers.asked_by_class), axis=0)
        return len(bits), bits.T.tobytes()

    @cached_method(_CACHED_CONTEXTS)
    def _may_change(self, context: str) -> bool:
        """Whether some character after `context` may be changed with it; after most, none is."""
        return any(map(self._normalization.joins, context)) or not (
            self._normalization.keeps_together(context + mark for mark in sorted(joining()))
        )
