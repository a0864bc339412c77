"""A Decoder of a text that is known in advance: one parallel pass computes all logits."""

from __future__ import annotations

from collections.abc import Sequence

from .._support.checks import require_pushed
from ..errors import InconsistentStateError
from ..interfaces import LanguageModel, Logits

MOST_LOGITS = 1 << 28
"""Logits that one pass may compute: 2 GB in float64."""


class PrescoredDecoder:
    """A Decoder that only accepts the tokens of a known text.

    It is several times as fast as reading token by token. Its logits differ from those in the last
    bits.

    Args:
        model: any.
        prompt_ids: the prompt.
        ids: what follows it, one or more.
    """

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> None:
        self._text = [*prompt_ids, *ids]
        self._rows = model.score(self._text)
        self._prompt = self._at = len(prompt_ids)

    @staticmethod
    def fits(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> bool:
        """Whether one pass may compute that many logits."""
        return (len(prompt_ids) + len(ids)) * model.logit_width <= MOST_LOGITS

    @property
    def ids(self) -> Sequence[int]:
        """The prompt's ids, then those that were pushed."""
        return self._text[: self._at]

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token."""
        row: Logits = self._rows[self._at]
        return row

    def push(self, token: int) -> None:
        """Read one more id.

        Raises:
            InconsistentStateError: it is not the next id of the text.
        """
        if self._at == len(self._text) or self._text[self._at] != token:
            raise InconsistentStateError(
                f"expected the text's own token at position {self._at}, found {token}; "
                f"start another Decoder to read another text"
            )
        self._at += 1

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids. Raises SettingsError if they reach into the prompt."""
        require_pushed(count, self._at - self._prompt)
        self._at -= count
