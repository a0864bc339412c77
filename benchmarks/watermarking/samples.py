"""Writes one text in each arm and looks at it: all that is kept of a sample."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Sequence
from typing import Any

import ticore
from benchmarks.clock import Clocked
from benchmarks.slowed import Slowed
from benchmarks.workers import Found, Write
from ticore import WatermarkDetector
from ticore.errors import UnscorableTextError
from ticore.evaluation.metrics import log_likelihood
from ticore.interfaces import LanguageModel
from ticore.schemes import scheme_named
from ticore.watermarking import Generator, Sampler, Warp, marked, multinomial

from .plan import ATTACKS, UNMARKED, Arm, Plan

_WARM_UP = 8  # tokens, so that the first sample does not pay for tables


def open_samples(plan: Plan, prompts: Sequence[str]) -> Write:
    """What writes the samples of a plan: `Samples.write`."""
    return Samples(ticore.load_model(plan.place), plan, prompts).write


class Samples:
    """Writes the samples of a plan with one model.

    Args:
        model: any.
        plan: how.
        prompts: taken in turn.
    """

    def __init__(self, model: LanguageModel, plan: Plan, prompts: Sequence[str]) -> None:
        self._model = Clocked(Slowed(model, plan.passes))
        self._plan = plan
        self._prompts = [model.tokenizer.encode(prompt) for prompt in prompts]
        self._warp = Warp(plan.temperature, plan.top_k, plan.top_p)
        self._sampler: Sampler = multinomial(random.Random(0), self._warp)
        # One of each for all texts, as whoever writes many of them would have it.
        self._generators = {
            arm.name: Generator(
                self._model,
                self._sample,
                observation=arm.observation,
                end_of_text=arm.end_of_text,
            )
            for arm in plan.arms
        }
        for generator in self._generators.values():
            generator.generate(self._prompts[0], _WARM_UP)

    def write(self, scheme: str, index: int) -> Found:
        """Sample `index` of a scheme, or of `UNMARKED`: one text in each arm.

        Arms take turns in coming first, so that what is slow at the moment hits all alike.
        """
        arms = self._plan.arms
        first = index % len(arms)
        found = {arm.name: self._write(scheme, index, arm) for arm in arms[first:] + arms[:first]}
        return {
            "scheme": scheme,
            "index": index,
            "arms": {arm.name: found[arm.name] for arm in arms},
        }

    def _sample(self, ids: Sequence[int], logits: Any) -> int:
        """By the sampler of the text that is being written."""
        return self._sampler(ids, logits)

    def _write(self, scheme: str, index: int, arm: Arm) -> Found:
        key = self._key(index)
        prompt = self._prompts[index % len(self._prompts)]
        draw = random.Random(f"{self._plan.seed} {index}")
        if scheme == UNMARKED:
            self._sampler = multinomial(draw, self._warp)
        else:
            vocab_size = self._model.tokenizer.vocab_size
            self._sampler = marked(scheme_named(scheme, key, vocab_size), draw, self._warp)
        self._model.seconds = 0.0
        started = time.perf_counter()
        written = self._generators[arm.name].generate(prompt, self._plan.tokens)
        seconds = time.perf_counter() - started
        schemes = self._plan.schemes if scheme == UNMARKED else (scheme,)
        read = self._model.tokenizer.encode(written.text)
        return {
            "text": written.text,
            "tokens": len(written.ids),
            "tokens_read": len(read),
            "end": written.end,
            "rollbacks": written.rollbacks,
            "temporary": written.temporary,
            "undone": written.undone,
            "forwards": written.forwards,
            "consistent": written.consistent,
            "seconds": seconds,
            "model_seconds": self._model.seconds,
            "nll": self._nll(prompt, written.ids),
            "nll_read": self._nll(prompt, read),
            "scores": {name: self._look(name, key, read) for name in schemes},
            "scores_of_written": {name: self._look(name, key, written.ids) for name in schemes},
            "attacks": {} if scheme == UNMARKED else self._attack(scheme, index, written.text),
        }

    def _attack(self, scheme: str, index: int, text: str) -> Found:
        found = {}
        for name in self._plan.attacks:
            draw = random.Random(f"{self._plan.seed} {index} {name}")
            attacked = ATTACKS[name](self._model.model, draw)(text)
            read = self._model.tokenizer.encode(attacked.text)
            looked = self._look(scheme, self._key(index), read)
            found[name] = {"changed": attacked.changed} | looked
        return found

    def _look(self, scheme: str, key: bytes, ids: Sequence[int]) -> Found:
        """What a detector says; a text too short to be looked at has strength 0."""
        try:
            found = WatermarkDetector(self._model.tokenizer, scheme, key=key).detect_ids(ids)
        except UnscorableTextError:
            return {"strength": 0.0, "p_value": 1.0, "scored": 0}
        return {"strength": found.strength, "p_value": found.p_value, "scored": found.scored}

    def _nll(self, prompt: Sequence[int], ids: Sequence[int]) -> float | None:
        """By the model as it is, at temperature 1; None where its context does not hold them."""
        found = log_likelihood(self._model, prompt, ids)
        return None if found is None else -found

    def _key(self, index: int) -> bytes:
        """Each sample has its own, so that no figure is about one key's lists."""
        return hashlib.blake2b(f"key {self._plan.seed} {index}".encode(), digest_size=32).digest()
