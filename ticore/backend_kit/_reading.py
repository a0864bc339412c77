"""Reading with any model: Decoders and batches, whether or not the model has more than it must.

A LanguageModel must have `start`. Whether its Decoders can forget old logits, and whether it reads
several texts in one pass, is asked here once for all users of models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import cast

from ..interfaces import (
    BatchDecoder,
    BatchModel,
    Decoder,
    LanguageModel,
    Logits,
    RewindLimitingModel,
)
from ._batch_decoder import CheckedBatchDecoder, each_row


def start_decoder(
    model: LanguageModel, prompt_ids: Sequence[int], rewindable: int | None = None
) -> Decoder:
    """A Decoder that forgets what is not rewound to, if the model has such Decoders.

    Args:
        model: any.
        prompt_ids, rewindable: see `ticore.interfaces.RewindLimitingModel.start`.

    Raises:
        PromptError, SettingsError: as `model.start`.
    """
    if rewindable is None or "rewindable" not in signature(model.start).parameters:
        return model.start(prompt_ids)
    return cast(RewindLimitingModel, model).start(prompt_ids, rewindable=rewindable)


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
    rows = _SerialRows(model, rewindable)
    checked = each_row(list, prompts)
    logits = each_row(lambda numbered: rows.add(*numbered), enumerate(checked))
    return CheckedBatchDecoder(model, rows, checked, logits, rewindable)


class _SerialRows:
    """What `CheckedBatchDecoder` reads rows with, made of one Decoder per row."""

    def __init__(self, model: LanguageModel, rewindable: int | None) -> None:
        self._model = model
        self._rewindable = rewindable
        self._decoders: dict[int, Decoder] = {}

    def add(self, row: int, ids: Sequence[int]) -> Logits:
        self._decoders[row] = start_decoder(self._model, ids, self._rewindable)
        return self._decoders[row].logits()

    def push(self, tokens: Mapping[int, int]) -> list[Logits]:
        for row, token in tokens.items():
            self._decoders[row].push(token)
        return [self._decoders[row].logits() for row in tokens]

    def rewind(self, row: int, count: int) -> None:
        self._decoders[row].rewind(count)

    def drop(self, row: int) -> None:
        del self._decoders[row]
