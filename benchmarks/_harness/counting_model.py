"""A model that counts the tokens that it reads one by one."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Decoder, LanguageModel, Logits

from .model_proxy import DecoderProxy, ModelProxy


class CountingModel(ModelProxy):
    """`model` with a counter.

    Attributes:
        passes: tokens that its Decoders have read; without prompts.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.passes = 0

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _CountedDecoder(super().start(prompt_ids), self)

    def score(self, ids: Sequence[int]) -> Logits:
        self.passes += len(ids)
        return super().score(ids)


class _CountedDecoder(DecoderProxy):
    def __init__(self, decoder: Decoder, model: CountingModel) -> None:
        super().__init__(decoder)
        self._model = model

    def push(self, token: int) -> None:
        self._model.passes += 1
        super().push(token)
