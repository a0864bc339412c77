"""Samples: one text is written in each arm, detected, attacked and measured."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import ticore
from benchmarks._harness.sampling import negative_log_likelihood, sample_key, sample_random
from benchmarks._harness.slow_model import SlowModel
from benchmarks._harness.timed_model import TimedModel
from benchmarks._harness.timing import timed
from ticore import WatermarkDetector
from ticore.errors import UnscorableTextError
from ticore.interfaces import LanguageModel
from ticore.schemes import make_scheme
from ticore.watermarking import (
    Generated,
    Generator,
    LogitsWarper,
    Sampler,
    TextStream,
    multinomial,
    watermarked_sampler,
)
from ticore.watermarking._samplers import of_text

from .plan import ATTACKS, UNMARKED, Plan

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker

_WARM_UP = 8  # tokens, so that the first sample does not include building tables
_STEPS_PER_TURN = 8  # long enough that what another arm left in the caches matters little

T = TypeVar("T")


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `TextSampler.take` with the plan's model."""
    return TextSampler(ticore.load_model(plan.model), plan, prompts).take


class TextSampler:
    """Takes samples with one model.

    Args:
        model: that writes.
        plan: the settings.
        prompts: sample `n` has prompt `n`, modulo their number.
    """

    def __init__(self, model: LanguageModel, plan: Plan, prompts: Sequence[str]) -> None:
        self._model = TimedModel(SlowModel(model, plan.passes))
        self._plan = plan
        self._prompts = [model.tokenizer.encode(prompt) for prompt in prompts]
        self._warp = LogitsWarper(plan.temperature, plan.top_k, plan.top_p)
        self._sampler: Sampler = multinomial(random.Random(0), self._warp)
        # One Generator per arm for all texts, as in a program that writes many texts.
        self._generators = {
            arm.name: Generator(
                self._model,
                self._choose,
                observation=arm.observation,
                end_of_text=arm.end_of_text,
            )
            for arm in plan.arms
        }
        for generator in self._generators.values():
            generator.generate(self._prompts[0], max_new_tokens=_WARM_UP)

    def take(self, scheme: str, index: int) -> Sample:
        """Sample `index` of a scheme, or of `UNMARKED`: one text in each arm.

        The arms take turns of a few steps, so that what else the machine does affects all of them
        alike: rollback takes less time than a machine's speed varies by. They also take turns in
        starting first, because the text that starts first was seen to take longer.
        """
        names = [arm.name for arm in self._plan.arms]
        first = index % len(names)
        texts = {n: self._start(scheme, index, n) for n in names[first:] + names[:first]}
        turns = list(texts.values())
        while sum(self._take_turn(text) for text in turns):  # a sum, since `any` would skip some
            turns.reverse()
        arms = {name: self._measures(scheme, index, texts[name]) for name in names}
        return {"scheme": scheme, "index": index, "arms": arms}

    def _choose(self, ids: Sequence[int], logits: Any) -> int:
        """Choose a token with the sampler of the text whose turn it is."""
        return self._sampler(ids, logits)

    def _take_turn(self, text: _TimedText) -> bool:
        self._sampler = text.sampler
        return text.advance()

    def _start(self, scheme: str, index: int, arm: str) -> _TimedText:
        draw = sample_random(self._plan.seed, index)
        sampler = multinomial(draw, self._warp)
        prompt = self._prompt(index)
        if scheme != UNMARKED:
            watermark = make_scheme(scheme, self._key(index), self._model.tokenizer.vocab_size)
            sampler = of_text(watermarked_sampler(watermark, draw, self._warp), len(prompt))
        stream = self._generators[arm].stream
        start = partial(stream, prompt, max_new_tokens=self._plan.max_tokens)
        return _TimedText(self._model, sampler, start)

    def _measures(self, scheme: str, index: int, text: _TimedText) -> JsonObject:
        key, prompt, written = self._key(index), self._prompt(index), text.result()
        schemes = self._plan.schemes if scheme == UNMARKED else (scheme,)
        read_ids = self._model.tokenizer.encode(written.text)
        return {
            "text": written.text,
            "token_count": len(written.ids),
            "read_token_count": len(read_ids),
            "end": written.end,
            "rollbacks": written.rollbacks,
            "temporary": written.temporary,
            "backtracks": written.backtracks,
            "forwards": written.forwards,
            "consistent": written.consistent,
            "seconds": text.seconds,
            "model_seconds": text.model_seconds,
            "nll": negative_log_likelihood(self._model, prompt, written.ids),
            "nll_read": negative_log_likelihood(self._model, prompt, read_ids),
            "detections": {name: self._detect(name, key, read_ids) for name in schemes},
            "detections_of_written": {
                name: self._detect(name, key, written.ids) for name in schemes
            },
            "attacks": {} if scheme == UNMARKED else self._attack(scheme, index, written.text),
        }

    def _attack(self, scheme: str, index: int, text: str) -> JsonObject:
        """What is detected after each attack, and the share of words or tokens it changed."""
        found = {}
        for name in self._plan.attacks:
            draw = sample_random(self._plan.seed, index, name)
            attacked = ATTACKS[name](self._model.model, draw)(text)
            ids = self._model.tokenizer.encode(attacked.text)
            detection = self._detect(scheme, self._key(index), ids)
            found[name] = {"changed": attacked.changed} | detection
        return found

    def _detect(self, scheme: str, key: bytes, ids: Sequence[int]) -> JsonObject:
        """What a detector says. A text that is too short to score has strength 0."""
        try:
            found = WatermarkDetector(self._model.tokenizer, scheme, key=key).detect_ids(ids)
        except UnscorableTextError:
            return {"strength": 0.0, "p_value": 1.0, "scored": 0}
        return {"strength": found.strength, "p_value": found.p_value, "scored": found.scored}

    def _prompt(self, index: int) -> list[int]:
        return self._prompts[index % len(self._prompts)]

    def _key(self, index: int) -> bytes:
        return sample_key(self._plan.seed, index)


class _TimedText:
    """A text that is written a few steps at a time.

    Args:
        model: that writes it.
        sampler: that chooses its tokens.
        start: begins it.

    Attributes:
        sampler: as given.
        seconds: that the text took so far.
        model_seconds: how many of them were spent in the model.
    """

    def __init__(
        self, model: TimedModel, sampler: Sampler, start: Callable[[], TextStream]
    ) -> None:
        self._model = model
        self.sampler = sampler
        self.seconds = self.model_seconds = 0.0
        self._writing = self._timed(start)

    def advance(self) -> bool:
        """Write a few steps; whether more are to come."""
        self._timed(self._steps)
        return self._writing.rollback.end is None

    def result(self) -> Generated:
        return self._timed(self._writing.result)

    def _steps(self) -> None:
        for _ in range(_STEPS_PER_TURN):
            self._writing.rollback.step()

    def _timed(self, work: Callable[[], T]) -> T:
        before = self._model.seconds
        seconds, result = timed(work)
        self.seconds += seconds
        self.model_seconds += self._model.seconds - before
        return result
