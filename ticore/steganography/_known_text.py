"""A text that is known in advance: its logits can be computed in other passes than one by one."""

from __future__ import annotations

from collections.abc import Sequence

from .._support.checks import require_pushed
from ..errors import InconsistentStateError


class KnownText:
    """A Decoder without `logits` that only accepts the tokens of a known text.

    Args:
        prompt_ids: the prompt.
        ids: what follows it, one or more.
    """

    def __init__(self, prompt_ids: Sequence[int], ids: Sequence[int]) -> None:
        self._text = [*prompt_ids, *ids]
        self._prompt = self._at = len(prompt_ids)

    @property
    def ids(self) -> Sequence[int]:
        """The prompt's ids, then those that were pushed."""
        return self._text[: self._at]

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
        self._at -= require_pushed(count, self._at - self._prompt)
