"""Samples: random bits that are hidden with one codec and precision, watched step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import ticore
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks.paper.low_probability.tails import (
    BOUNDS,
    Tails,
    TextDistribution,
    log2_of_pool,
    masses_below,
)
from benchmarks.paper.prompt_cuts import as_given_back
from benchmarks.paper.setting import Setting
from benchmarks.paper.side_by_side import SideBySide
from ticore._support.shared_randomness import SharedRandomness
from ticore.codecs import Codec, codec_spec
from ticore.errors import TicoreError
from ticore.interfaces import LanguageModel

from .plan import BITS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker
    from ticore.steganography._step import Step


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `Sampler.take`."""
    return Sampler.opened(setting).take


class Sampler(SideBySide):
    """Takes samples with one model."""

    dtype = "float64"

    def __init__(self, model: LanguageModel, setting: Setting) -> None:
        super().__init__(model, setting)
        self._distribution = TextDistribution(model)

    def take(self, codec: str, k: int | None, weight_bits: int, first: int) -> Sample:
        """The texts from number `first` on, written side by side."""
        numbers = self.numbers(first)
        stego = ticore.Steganographer(
            self._model,
            top_k=k,
            mode="prefix",
            weight_bits=weight_bits,
            codec=codec,
            numerics="portable",
            finish="none",
        )
        watches = [_Watch(_same_codec(codec), self._distribution) for _ in numbers]
        written = stego.embed_bits_batch(
            [self._bits(n) for n in numbers],
            prompts=[as_given_back(self._model, self._setting.prompt(n)) for n in numbers],
            keys=[sample_key(self._setting.seed, n) for n in numbers],
            observers=watches,
            batch_size=len(numbers),
        )
        kind = {"codec": codec, "k": k, "weight_bits": weight_bits}
        texts = [
            kind | {"index": number} | _measured(embedding, watch)
            for number, embedding, watch in zip(numbers, written, watches, strict=True)
        ]
        return kind | {"first": first, "texts": texts}

    def _bits(self, number: int) -> list[int]:
        draw = sample_random(self._setting.seed, number, "codecs")
        return [draw.getrandbits(1) for _ in range(BITS)]


class _Watch:
    """Counts the improbable tokens of a text while it is written.

    Attributes:
        whole: under the model, over all tokens that are text.
        choices: under what the codec was given: candidates that keep the text consistent.
        emitted: float64[len(BOUNDS)], like the numbers expected of `whole`, but with what the codec
            makes of its choices. So this is exact on both sides.
    """

    def __init__(self, codec: Codec, distribution: TextDistribution) -> None:
        self.whole, self.choices = Tails(), Tails()
        self.emitted = np.zeros(len(BOUNDS))
        self._codec = codec
        self._distribution = distribution

    def __call__(self, step: Step, index: int) -> None:
        log2_p, ids = self._distribution.log2(step.logits), step.choices.ids
        self.whole.add(log2_p, step.token(index))
        # Stepwise verification keeps single tokens: each choice is the token of its place.
        self.choices.add(log2_of_pool(step.choices.kept), index)
        self.emitted += masses_below(log2_p[ids], self._codec.emitted(step.weights))


def _same_codec(name: str) -> Codec:
    """A codec that emits as the writer's does, whatever the numbers it shares with a reader."""
    return codec_spec(name).make(randomness=SharedRandomness(bytes(16), "none"))


def _measured(written: ticore.Embedding | TicoreError, watch: _Watch) -> JsonObject:
    if isinstance(written, TicoreError):
        return {"text": None, "error": str(written)}
    return {
        "text": written.text,
        "ids": list(written.ids),
        "whole": watch.whole.as_json(),
        "choices": watch.choices.as_json(),
        "emitted": watch.emitted.tolist(),
    }
