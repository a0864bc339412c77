"""A Decoder of a text that is known in advance: a pass reads many tokens, with the bits of each."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InconsistentStateError
from ..interfaces import Logits, ManyTokenDecoder
from ._known_text import KnownText

BLOCK = 16
"""Tokens that are read together, at most this many in vain."""

ALONE = 8
"""Tokens that are read one by one first: most texts without a message end the reading there."""


class BlockDecoder(KnownText):
    """A Decoder that only accepts the tokens of a known text, and reads them block by block.

    Args:
        decoder: has read the text up to `ids`.
        ids: what follows, one or more.
    """

    def __init__(self, decoder: ManyTokenDecoder, ids: Sequence[int]) -> None:
        super().__init__(decoder.ids, ids)
        self._decoder = decoder
        self._first = self._at  # the place that the first of `_rows` is for
        self._rows: Logits = decoder.logits()[None]

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token; the bits of one that is read alone.

        Raises:
            InconsistentStateError: they were forgotten, since later ones were computed.
        """
        if self._at < self._first:
            raise InconsistentStateError(
                f"expected a text that is read forwards, found one that goes back to its token "
                f"{self._at - self._prompt}; start another Decoder"
            )
        while self._at >= self._first + len(self._rows):
            start = self._first + len(self._rows) - 1
            self._rows = self._read(start)
            self._first = start + 1
        row: Logits = self._rows[self._at - self._first]
        return row

    def _read(self, start: int) -> Logits:
        """The logits after the token at `start`, and perhaps after the next ones."""
        if start >= self._prompt + ALONE:
            return self._decoder.push_many(self._text[start : start + BLOCK])
        self._decoder.push(self._text[start])
        return self._decoder.logits()[None]
