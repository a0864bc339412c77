"""For Model Runner V1, which tells of each change of its batch and shares its lists of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ticore.consistency import Verification
from ticore_masks import ServedText, mask_texts

from ._interfaces import BatchUpdate, SamplingParams, VllmConfig
from ._processor import ConsistentTokens, ends_of, served_texts


@dataclass(frozen=True)
class _Row:
    """A request.

    Attributes:
        text: what is verified of it.
        written: vLLM's own list of its tokens, which grows. While vLLM does not know a token, -1
            stands for it.
    """

    text: ServedText
    written: list[int]

    def verification(self) -> Verification | None:
        return self.text.follow(self.written)


class Processor(ConsistentTokens):
    """See `ConsistentTokens`. vLLM calls `update_state`, then `apply`, once per step."""

    def __init__(self, vllm_config: VllmConfig, state: object, is_pin_memory: bool) -> None:
        self._texts = served_texts(vllm_config)
        self._rows: dict[int, _Row] = {}

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the changes of the batch; None where there are none.

        The tokens are read later, in `apply`: here those of the last step may be missing.
        """
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._put(index, None)
        for index, params, prompt, written in batch_update.added:
            self._put(index, self._row(params, prompt, written))
        for source, target, direction in batch_update.moved:
            moved, other = self._rows.pop(source, None), self._rows.pop(target, None)
            swapped = direction.name == "SWAP"
            self._put(target, moved)
            if swapped:
                self._put(source, other)
            else:
                self._close(other)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Mask float[requests, width] in place, and give it back."""
        rows = [self._rows.get(index) for index in range(len(logits))]
        verifications = [None if row is None else row.verification() for row in rows]
        return mask_texts(logits, verifications, [row.text if row else None for row in rows])

    def _row(self, params: SamplingParams, prompt: list[int] | None, ids: list[int]) -> _Row | None:
        """A new request; None for one that is left alone."""
        settings = self._texts.settings_of(params.extra_args)
        if not settings.on:
            return None
        return _Row(self._texts.start(settings, prompt, ends_of(params)), ids)

    def _put(self, index: int, row: _Row | None) -> None:
        """Give a place in the batch to a request, or to none that is masked."""
        self._close(self._rows.pop(index, None))
        if row is not None:
            self._rows[index] = row

    def _close(self, row: _Row | None) -> None:
        if row is not None:
            self._texts.close(row.text)
