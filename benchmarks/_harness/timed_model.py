"""A model that counts the seconds spent in it, so that other costs can be told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from ticore.interfaces import Decoder, LanguageModel, Logits

from .model_proxy import DecoderProxy, ModelProxy
from .timing import timed

P = ParamSpec("P")
T = TypeVar("T")


class TimedModel(ModelProxy):
    """`model` with a clock.

    Attributes:
        seconds: spent in `start`, and in `logits`, `push` and `rewind` of its Decoders.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.seconds = 0.0

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _TimedDecoder(self.count(super().start, prompt_ids), self)

    def count(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call of `work`, whose time is added to `seconds`."""
        seconds, result = timed(work, *args, **kwargs)
        self.seconds += seconds
        return result


class _TimedDecoder(DecoderProxy):
    def __init__(self, decoder: Decoder, model: TimedModel) -> None:
        super().__init__(decoder)
        self._model = model

    def logits(self) -> Logits:
        return self._model.count(super().logits)

    def push(self, token: int) -> None:
        self._model.count(super().push, token)

    def rewind(self, count: int) -> None:
        self._model.count(super().rewind, count)
