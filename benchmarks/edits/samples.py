"""Samples: a message is written, its text is edited more and more, and read each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Literal

import ticore
from benchmarks._harness.refusals import or_refused
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.types import JsonObject, Sample, Worker
from ticore.errors import ExtractionError

from .attack import edited


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: place of the model.
        size: bytes per message.
        shares: of the tokens that an attacker edits, one after the other.
        security: see `ticore.Steganographer`.
        seed: of all messages, keys and edits.
    """

    model: str = "tiny-en"
    size: int = 16
    shares: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
    security: Literal["standard", "compact"] = "compact"
    seed: int = 0


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take`."""
    return Sampler(plan, prompts).take


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: message `n` has prompt `n`, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        self._plan = plan
        self._prompts = prompts
        self._model = ticore.load_model(plan.model)

    def take(self, window: int, edits: float, number: int) -> Sample:
        """A sample: message `number`, written so that it survives a share of edits, or refused.

        Args:
            window: see `ticore.Steganographer`; 0 for none.
            edits: the share of tokens.
            number: of the message.
        """
        task = {"window": window, "edits": edits, "number": number}
        return task | or_refused(partial(self._take, window, edits, number))

    def _take(self, window: int, edits: float, number: int) -> JsonObject:
        plan, draw = self._plan, sample_random(self._plan.seed, number)
        message = draw.randbytes(plan.size)
        stego = ticore.Steganographer(
            self._model,
            key=sample_key(plan.seed, number),
            prompt=self._prompts[number % len(self._prompts)],
            security=plan.security,
            compress="deflate",
            window=window or None,
            edits=edits,
            entropy=draw.randbytes,
        )
        written = stego.embed(message)
        attack = Random(plan.seed << 32 | number)
        read = [
            _is_read(stego, edited(written.text, self._model.tokenizer, share, attack), message)
            for share in plan.shares
        ]
        return {
            "size": plan.size,
            "token_count": written.token_count,
            "all_tokens": len(written.ids),
            "seconds": written.seconds,
            "read": read,
            "text": written.text,
        }


def _is_read(stego: ticore.Steganographer, text: str, message: bytes) -> bool:
    try:
        found = stego.extract(text)
    except ExtractionError:
        return False
    if found != message:
        raise AssertionError("a wrong message was read")
    return True
