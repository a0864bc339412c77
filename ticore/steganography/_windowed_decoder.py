"""A Decoder of a known text in which the model sees the last tokens alone, many places at a time.

text  a b c d e f ...    window of 2 tokens

row 0   prompt a b       the logits of c      all rows read their first token in one pass,
row 1   prompt b c       the logits of d      then their second; then they go back to the
row 2   prompt c d       the logits of e      prompt, and read the next windows
"""

from __future__ import annotations

from collections.abc import Sequence

from ..backend_kit._reading import start_decoder
from ..interfaces import BatchDecoder, BatchModel, LanguageModel, Logits
from ._known_text import KnownText

GROUP = 32
"""Windows that are read side by side. More take more memory, and hardly less time."""

_ROUNDS = 8  # in which a row reads a window; with fewer, reading the prompt would take most time


class WindowedDecoder(KnownText):
    """A Decoder whose logits depend on the prompt and the last tokens before them.

    A token takes as many passes as a window has tokens, shared by `GROUP` tokens of the text. Its
    logits differ in the last bits from those of windows that are read alone. A model that reads no
    batches reads each window alone.

    Args:
        model: any.
        prompt_ids: the prompt.
        ids: what follows it, one or more.
        size: tokens of a window.
    """

    def __init__(
        self, model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int], size: int
    ) -> None:
        super().__init__(prompt_ids, ids)
        self._model = model
        self._size = size
        self._batch: BatchDecoder | None = None
        self._rows = max(1, min(GROUP, len(ids) // _ROUNDS))
        if isinstance(model, BatchModel):
            self._batch = model.start_batch([list(prompt_ids)] * self._rows, rewindable=size)
        self._read: dict[int, Logits] = {}

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token of the text, if there is one."""
        if self._at not in self._read:
            self._read = self._alone() if self._batch is None else self._together(self._batch)
        return self._read[self._at]

    def _alone(self) -> dict[int, Logits]:
        ids = [*self._text[: self._prompt], *self._window(self._at)]
        return {self._at: start_decoder(self._model, ids, rewindable=0).logits()}

    def _together(self, batch: BatchDecoder) -> dict[int, Logits]:
        """The logits at this place, and at the next ones of a group."""
        places = range(self._at, min(self._at + self._rows, len(self._text)))
        windows = {row: self._window(place) for row, place in enumerate(places)}
        for number in range(self._size):
            batch.push({row: ids[number] for row, ids in windows.items() if number < len(ids)})
        read = {place: batch.logits(row) for row, place in enumerate(places)}
        for row, ids in windows.items():
            batch.rewind(row, len(ids))
        return read

    def _window(self, place: int) -> list[int]:
        """The tokens before a place that are seen, besides the prompt."""
        return self._text[max(self._prompt, place - self._size) : place]
