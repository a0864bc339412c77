"""Samples: one message is written in one way, and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import ticore
from benchmarks._harness.prompts import language_of
from benchmarks._harness.refusals import or_refused
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.types import JsonObject, Sample, Worker

from .ways import WAYS, message_of


@dataclass(frozen=True)
class Plan:
    """The settings of all samples: the seed of random messages and keys."""

    seed: int = 0


def make_worker(plan: Plan, prompts: Mapping[str, Sequence[str]]) -> Worker:
    """The worker of a plan: `Sampler.take`."""
    return Sampler(plan, prompts).take


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: by model; sample `n` has prompt `n`, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Mapping[str, Sequence[str]]) -> None:
        self._plan = plan
        self._prompts = prompts
        self._models: dict[str, ticore.LanguageModel] = {}

    def take(self, model: str, kind: str, way: str, number: int) -> Sample:
        """A sample: message `number` of a kind, written in one way, or refused."""
        task = {"model": model, "kind": kind, "way": way, "number": number}
        return task | or_refused(partial(self._take, model, kind, way, number))

    def _take(self, model: str, kind: str, way: str, number: int) -> JsonObject:
        draw, prompts = sample_random(self._plan.seed, number), self._prompts[model]
        message = message_of(kind, language_of(model), draw)
        stego = ticore.Steganographer(
            self._opened(model),
            key=sample_key(self._plan.seed, number),
            prompt=prompts[number % len(prompts)],
            entropy=draw.randbytes,
            **WAYS[way],
        )
        written = stego.embed(message)
        return {
            "message_bytes": len(message),
            "frame_bytes": written.bits / 8,
            "token_count": written.token_count,
            "all_tokens": len(written.ids),
            "seconds": written.seconds,
            "is_read": stego.extract(written) == message,
            "text": written.text,
        }

    def _opened(self, model: str) -> ticore.LanguageModel:
        if model not in self._models:
            self._models[model] = ticore.load_model(model)
        return self._models[model]
