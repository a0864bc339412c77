"""A model that takes the time of a larger one, and writes the same texts."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Decoder, LanguageModel

from .wrapped import Wrapped, WrappedDecoder


class Slowed(Wrapped):
    """`model`, reading each token `passes` times: forgotten each time but the last."""

    def __init__(self, model: LanguageModel, passes: int) -> None:
        super().__init__(model)
        self._passes = passes

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _SlowedDecoder(super().start(prompt_ids), self._passes)


class _SlowedDecoder(WrappedDecoder):
    def __init__(self, decoder: Decoder, passes: int) -> None:
        super().__init__(decoder)
        self._passes = passes

    def push(self, token: int) -> None:
        for again in range(self._passes):
            if again:
                super().rewind(1)
            super().push(token)
