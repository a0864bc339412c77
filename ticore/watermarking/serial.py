"""Several texts, each read by a Decoder of its own: what serves models that have no other way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..interfaces import BatchDecoder, BatchModel, Decoder, LanguageModel, Logits
from ..rows import Rows, each_row


def start_batch(
    model: LanguageModel, prompts: Sequence[Sequence[int]], rewindable: int | None = None
) -> BatchDecoder:
    """A BatchDecoder of any model: its own if it can make one, else one that reads row by row.

    Args:
        model: any.
        prompts, rewindable: see `ticore.interfaces.BatchModel.start_batch`.

    Raises as `model.start`, and names the row.
    """
    own = model.start_batch(prompts, rewindable) if isinstance(model, BatchModel) else None
    return serial_batch(model, prompts, rewindable) if own is None else own


def serial_batch(
    model: LanguageModel, prompts: Sequence[Sequence[int]], rewindable: int | None = None
) -> BatchDecoder:
    """A BatchDecoder that reads one row after the other. Arguments and errors of `start_batch`."""
    decoders = each_row(model.start, prompts)
    logits = [decoder.logits() for decoder in decoders]
    return Rows(model, _Decoders(decoders), prompts, logits, rewindable)


class _Decoders:
    """A RowReader made of Decoders."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = dict(enumerate(decoders))

    def push(self, tokens: Mapping[int, int]) -> list[Logits]:
        for row, token in tokens.items():
            self._decoders[row].push(token)
        return [self._decoders[row].logits() for row in tokens]

    def rewind(self, row: int, count: int) -> None:
        self._decoders[row].rewind(count)

    def drop(self, row: int) -> None:
        del self._decoders[row]
