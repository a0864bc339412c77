"""A text that is known beforehand, all of its logits computed in one parallel pass."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InconsistentStateError
from ..interfaces import LanguageModel, Logits
from ..limits import require_pushed

MOST_NUMBERS = 1 << 28
"""Logits that one pass may compute: 2 GB in float64."""


class Foreseen:
    """A Decoder that goes along tokens which are known, and can do no other.

    Several times as fast as reading one by one. Its logits differ from theirs in the last bits.

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
        """Whether one pass may compute so much."""
        return (len(prompt_ids) + len(ids)) * model.logit_width <= MOST_NUMBERS

    @property
    def ids(self) -> Sequence[int]:
        """The prompt's ids, then those that were gone along."""
        return self._text[: self._at]

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token."""
        row: Logits = self._rows[self._at]
        return row

    def push(self, token: int) -> None:
        """Go along one more id.

        Raises:
            InconsistentStateError: it is not the text's.
        """
        if self._at == len(self._text) or self._text[self._at] != token:
            raise InconsistentStateError(
                f"expected the text's own token at position {self._at}, found {token}; "
                f"start another Decoder to read another text"
            )
        self._at += 1

    def rewind(self, count: int) -> None:
        """Go back by `count` ids. Raises SettingsError where they reach into the prompt."""
        require_pushed(count, self._at - self._prompt)
        self._at -= count
