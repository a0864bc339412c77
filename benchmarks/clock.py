"""A model that counts the seconds spent in it, so that the rest can be told apart."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ticore.interfaces import Decoder, LanguageModel, Logits, Tokenizer


class Clocked:
    """`model` with a clock.

    Attributes:
        seconds: spent in `start`, and in the `logits`, `push` and `rewind` of its Decoders.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.seconds = 0.0

    @property
    def tokenizer(self) -> Tokenizer:
        return self.model.tokenizer

    @property
    def logit_width(self) -> int:
        return self.model.logit_width

    @property
    def eos_ids(self) -> frozenset[int]:
        return self.model.eos_ids

    @property
    def context_length(self) -> int:
        return self.model.context_length

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        started = time.perf_counter()
        decoder = self.model.start(prompt_ids)
        self.seconds += time.perf_counter() - started
        return _ClockedDecoder(decoder, self)

    def score(self, ids: Sequence[int]) -> Logits:
        return self.model.score(ids)

    def digest(self) -> str:
        return self.model.digest()


class _ClockedDecoder:
    def __init__(self, decoder: Decoder, clock: Clocked) -> None:
        self._decoder = decoder
        self._clock = clock

    @property
    def ids(self) -> Sequence[int]:
        return self._decoder.ids

    def logits(self) -> Logits:
        started = time.perf_counter()
        found = self._decoder.logits()
        self._clock.seconds += time.perf_counter() - started
        return found

    def push(self, token: int) -> None:
        started = time.perf_counter()
        self._decoder.push(token)
        self._clock.seconds += time.perf_counter() - started

    def rewind(self, count: int) -> None:
        started = time.perf_counter()
        self._decoder.rewind(count)
        self._clock.seconds += time.perf_counter() - started
