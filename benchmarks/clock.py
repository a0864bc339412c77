"""A model that counts the seconds spent in it, so that the rest can be told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from ticore.interfaces import Decoder, LanguageModel, Logits

from .spread import timed
from .wrapped import Wrapped, WrappedDecoder

P = ParamSpec("P")
T = TypeVar("T")


class Clocked(Wrapped):
    """`model` with a clock.

    Attributes:
        seconds: spent in `start`, and in the `logits`, `push` and `rewind` of its Decoders.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.seconds = 0.0

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _ClockedDecoder(self.clocked(super().start, prompt_ids), self)

    def clocked(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` gives; its seconds are added up."""
        seconds, result = timed(work, *args, **kwargs)
        self.seconds += seconds
        return result


class _ClockedDecoder(WrappedDecoder):
    def __init__(self, decoder: Decoder, clock: Clocked) -> None:
        super().__init__(decoder)
        self._clock = clock

    def logits(self) -> Logits:
        return self._clock.clocked(super().logits)

    def push(self, token: int) -> None:
        self._clock.clocked(super().push, token)

    def rewind(self, count: int) -> None:
        self._clock.clocked(super().rewind, count)
