"""A Decoder of a text that is known in advance: one parallel pass computes all logits."""

from __future__ import annotations

from collections.abc import Sequence

from ..interfaces import LanguageModel, Logits
from ._known_text import KnownText

MOST_LOGITS = 1 << 28
"""Logits that one pass may compute: 2 GB in float64."""

_FIRST = 8  # tokens that are read before the rest
_TIMES = 8  # how much longer than these and the prompt a text is whose first tokens are


class PrescoredDecoder(KnownText):
    """A Decoder that only accepts the tokens of a known text.

    It is several times as fast as reading token by token. Its logits differ from those in the last
    bits. The first tokens have a pass of their own: most texts without a message end there.

    Args:
        model: any.
        prompt_ids: the prompt.
        ids: what follows it, one or more.
    """

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> None:
        super().__init__(prompt_ids, ids)
        self._model = model
        first = self._prompt + _FIRST
        in_two = len(self._text) > _TIMES * first
        self._rows = model.score(self._text[:first] if in_two else self._text)

    @staticmethod
    def fits(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> bool:
        """Whether one pass may compute that many logits."""
        return (len(prompt_ids) + len(ids)) * model.logit_width <= MOST_LOGITS

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token."""
        if len(self._rows) <= self._at < len(self._text):
            self._rows = self._model.score(self._text)
        row: Logits = self._rows[self._at]
        return row
