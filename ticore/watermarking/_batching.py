"""Many texts at once: each is rolled back by itself, and one forward pass serves all of them.

    each text samples, commits and rolls back until it has to read a token:

        row 0   The morning was c|          reads "old"
        row 1   It was l|                   took back "at", then sampled "ate": reads it
        row 2   She opened the door.        has ended: dropped

    one pass reads one token in each row that is left; then the texts go on.

Each text is decided by its own Rollback, as if there were no other text. A model that cannot read
several rows in one pass reads them one after the other, with the same results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..backend_kit._batch_decoder import CheckedBatchDecoder, each_row
from ..interfaces import BatchDecoder, BatchModel, Decoder, LanguageModel, Logits


class RowDecoder:
    """The Decoder of one row of a batch."""

    def __init__(self, batch: BatchDecoder, row: int) -> None:
        self._batch = batch
        self._row = row

    @property
    def ids(self) -> Sequence[int]:
        return self._batch.ids(self._row)

    def logits(self) -> Logits:
        return self._batch.logits(self._row)

    def push(self, token: int) -> None:
        """Read one more id in this row alone."""
        self._batch.push({self._row: token})

    def rewind(self, count: int) -> None:
        self._batch.rewind(self._row, count)


def write_together(batch: BatchDecoder, reads: Sequence[Iterable[int]]) -> Iterator[int]:
    """Write all texts to their ends.

    Args:
        batch: has one row for each text, and drops it when the text has ended.
        reads: for row n the tokens that its decoder `RowDecoder(batch, n)` has to read, as
            `Rollback.reads` yields them.

    Yields:
        The row of each text when it has ended.
    """
    writing = {row: iter(tokens) for row, tokens in enumerate(reads)}
    while writing:
        reading: dict[int, int] = {}
        for row, tokens in list(writing.items()):
            token = next(tokens, None)
            if token is None:
                del writing[row]
                batch.drop(row)
                yield row
            else:
                reading[row] = token
        batch.push(reading)


def start_batch(
    model: LanguageModel, prompts: Sequence[Sequence[int]], rewindable: int | None = None
) -> BatchDecoder:
    """A BatchDecoder of any model: its own if it has one, else one that reads row by row.

    Args:
        model: any.
        prompts, rewindable: see `ticore.interfaces.BatchModel.start_batch`.

    Raises:
        PromptError, SettingsError: as `model.start`; the text names the row.
    """
    own = model.start_batch(prompts, rewindable) if isinstance(model, BatchModel) else None
    return serial_batch(model, prompts, rewindable) if own is None else own


def serial_batch(
    model: LanguageModel, prompts: Sequence[Sequence[int]], rewindable: int | None = None
) -> BatchDecoder:
    """A BatchDecoder that reads one row after the other. Arguments and errors of `start_batch`."""
    decoders = each_row(model.start, prompts)
    logits = [decoder.logits() for decoder in decoders]
    return CheckedBatchDecoder(model, _SerialRows(decoders), prompts, logits, rewindable)


class _SerialRows:
    """What `CheckedBatchDecoder` reads rows with, made of one Decoder per row."""

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
