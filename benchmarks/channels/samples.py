"""Samples: messages are written for a channel, take its journeys, and are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import eq
from random import Random
from typing import Any

import ticore
from benchmarks._harness.refusals import refused
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.types import JsonObject, Sample, Worker
from ticore.channels import channel_named

from .journeys import JOURNEYS, WITHIN


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        size: bytes per message.
        top_k: candidates per step.
        seed: of all messages and keys.
    """

    size: int = 16
    top_k: int = 64
    seed: int = 0


def channels() -> list[str]:
    """The channels of all journeys, and none."""
    return ["identity", *dict.fromkeys(journey.channel for journey in JOURNEYS.values())]


def make_worker(plan: Plan, prompts: Mapping[str, Sequence[str]]) -> Worker:
    """The worker of a plan: `Sampler.take`."""
    return Sampler(plan, prompts).take


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: by model; message `n` has prompt `n`, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Mapping[str, Sequence[str]]) -> None:
        self._plan = plan
        self._prompts = prompts
        self._models: dict[str, ticore.LanguageModel] = {}

    def take(self, model: str, channel: str, first: int, count: int) -> Sample:
        """A sample: `count` messages from number `first` on, over a channel.

        They are written side by side. Over `identity` they take all journeys, else those of the
        channel. Those that cannot be sent take none.
        """
        plan, draw = self._plan, sample_random(self._plan.seed, first)
        messages = [draw.randbytes(plan.size) for _ in range(count)]
        stego = self._steganographer(model, channel, first, draw)
        prompts = [self._prompt(model, stego, n) for n in range(first, first + count)]
        together: dict[str, Any] = {"prompts": prompts, "batch_size": count}
        found = stego.embed_batch(messages, **together)
        texts = [
            _row(each) if isinstance(each, ticore.Embedding) else refused(each) for each in found
        ]
        is_sent = [isinstance(each, ticore.Embedding) for each in found]
        written = [each for each in found if isinstance(each, ticore.Embedding)]
        messages = [*compress(messages, is_sent)]
        together["prompts"] = [*compress(prompts, is_sent)]
        read = {
            name: _count_read(stego, written, messages, journey.take, together)
            for name, journey in JOURNEYS.items()
            if channel in ("identity", journey.channel)
        }
        task = {"model": model, "channel": channel, "first": first, "count": count}
        return task | {"texts": texts, "read": read}

    def _steganographer(
        self, model: str, channel: str, first: int, draw: Random
    ) -> ticore.Steganographer:
        opened = self._models.get(model) or ticore.load_model(model, dtype="float64")
        self._models[model] = opened
        return ticore.Steganographer(
            opened,
            key=sample_key(self._plan.seed, first),
            top_k=self._plan.top_k,
            numerics="portable",
            channel=channel,
            entropy=draw.randbytes,
        )

    def _prompt(self, model: str, stego: ticore.Steganographer, number: int) -> str:
        """A prompt as the channel leaves it, so that it can be sent."""
        prompts = self._prompts[model]
        return channel_named(stego.agreement.channel).read(prompts[number % len(prompts)])


def _count_read(
    stego: ticore.Steganographer,
    written: Sequence[ticore.Embedding],
    messages: Sequence[bytes],
    take: Callable[[str], str],
    together: dict[str, Any],
) -> int:
    """How many messages are read after a journey."""
    arrived = [WITHIN.format(take(each.text)) for each in written]
    return sum(map(eq, stego.extract_batch(arrived, **together), messages))


def _row(written: ticore.Embedding) -> JsonObject:
    return {
        "bits_per_token": written.bits_per_token,
        "token_count": written.token_count,
        "kl_filter": written.kl_filter,
        "text": written.text,
    }
