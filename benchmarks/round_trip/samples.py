"""Samples: one message is written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ticore
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.timing import timed
from ticore.interfaces import LanguageModel

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: what `ticore.load_model` opens.
        size: bytes per message.
        top_k: candidates per step.
        temperature: as for `ticore.Steganographer`.
        seed: of all messages and keys.
        chat: whether a prompt is what a user says, and the text the reply of a chat model.
    """

    model: str = "tiny-en"
    size: int = 16
    top_k: int = 64
    temperature: float = 1.0
    seed: int = 0
    chat: bool = False


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take` with the plan's model."""
    return Sampler(ticore.load_model(plan.model), plan, prompts).take


class Sampler:
    """Takes samples with one model.

    Args:
        model: that writes and reads.
        plan: the settings.
        prompts: sample `n` has prompt `n`, modulo their number.
    """

    def __init__(self, model: LanguageModel, plan: Plan, prompts: Sequence[str]) -> None:
        self._model = model
        self._plan = plan
        self._prompts = prompts

    def take(self, index: int) -> Sample:
        """Sample `index`. Its message, key and prompt follow from the index."""
        draw = sample_random(self._plan.seed, index)
        message = draw.randbytes(self._plan.size)
        prompt = self._prompts[index % len(self._prompts)]
        settings: dict[str, Any] = {
            "key": sample_key(self._plan.seed, index),
            "prompt": ticore.Chat.ask(prompt) if self._plan.chat else prompt,
            "temperature": self._plan.temperature,
            "top_k": self._plan.top_k,
        }
        writer = ticore.Steganographer(self._model, entropy=draw.randbytes, **settings)
        written = writer.embed(message)
        reader = ticore.Steganographer(self._model, **settings)
        extract_seconds, recovered = timed(reader.extract, written.text)
        return {
            "index": index,
            "recovered": recovered == message,
            "bits": written.bits,
            "token_count": written.token_count,
            "bits_per_token": written.bits_per_token,
            "kl_filter": written.kl_filter,
            "embed_seconds": written.seconds,
            "extract_seconds": extract_seconds,
            "text": written.text,
        }
