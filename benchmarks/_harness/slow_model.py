"""A model that takes as long as a larger one and writes the same texts."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Decoder, LanguageModel

from .model_proxy import DecoderProxy, ModelProxy


class SlowModel(ModelProxy):
    """`model`, but each token is read `passes` times; all readings but the last are forgotten."""

    def __init__(self, model: LanguageModel, passes: int) -> None:
        super().__init__(model)
        self._passes = passes

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _SlowDecoder(super().start(prompt_ids), self._passes)


class _SlowDecoder(DecoderProxy):
    def __init__(self, decoder: Decoder, passes: int) -> None:
        super().__init__(decoder)
        self._passes = passes

    def push(self, token: int) -> None:
        for repetition in range(self._passes):
            if repetition:
                super().rewind(1)
            super().push(token)
