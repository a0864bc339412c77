"""Writes one text in each arm and looks at it: all that is kept of a sample."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import ticore
from benchmarks.clock import Clocked
from benchmarks.slowed import Slowed
from benchmarks.spread import timed
from benchmarks.workers import Found, Write
from ticore import WatermarkDetector
from ticore.errors import UnscorableTextError
from ticore.evaluation.metrics import log_likelihood
from ticore.interfaces import LanguageModel
from ticore.schemes import scheme_named
from ticore.watermarking import Generated, Generator, Sampler, Warp, Writing, marked, multinomial
from ticore.watermarking.rollback import MOST_UNDONE
from ticore.watermarking.sampling import of_text

from .plan import ATTACKS, UNMARKED, Plan

_WARM_UP = 8  # tokens, so that the first sample does not pay for tables
_TURN = 8  # steps; long enough that what another arm left in the caches matters little

T = TypeVar("T")


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

        They are written side by side, a few steps of one, then of the next, so that what is slow
        at the moment hits all alike: what rollback takes is less than what a machine varies by. And
        they take turns in coming first: a text that is always begun first was seen to take longer.
        """
        names = [arm.name for arm in self._plan.arms]
        first = index % len(names)
        texts = {n: self._start(scheme, index, n) for n in names[first:] + names[:first]}
        turns = list(texts.values())
        while sum(self._go_on(text) for text in turns):  # all of them, so not `any`
            turns.reverse()
        looked_at = {name: self._looked_at(scheme, index, texts[name]) for name in names}
        return {"scheme": scheme, "index": index, "arms": looked_at}

    def _sample(self, ids: Sequence[int], logits: Any) -> int:
        """By the sampler of the text whose turn it is."""
        return self._sampler(ids, logits)

    def _go_on(self, text: _Text) -> bool:
        self._sampler = text.sampler
        return text.go_on()

    def _start(self, scheme: str, index: int, arm: str) -> _Text:
        draw = random.Random(f"{self._plan.seed} {index}")
        sampler = multinomial(draw, self._warp)
        if scheme != UNMARKED:
            vocab_size = self._model.tokenizer.vocab_size
            marks = scheme_named(scheme, self._key(index), vocab_size)
            sampler = of_text(marked(marks, draw, self._warp), len(self._prompt(index)))
        generator, prompt, tokens = self._generators[arm], self._prompt(index), self._plan.tokens
        start = partial(generator.start, prompt, tokens, undo=MOST_UNDONE)
        return _Text(self._model, sampler, start)

    def _looked_at(self, scheme: str, index: int, text: _Text) -> Found:
        key, prompt, written = self._key(index), self._prompt(index), text.result()
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
            "seconds": text.seconds,
            "model_seconds": text.model_seconds,
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

    def _prompt(self, index: int) -> list[int]:
        return self._prompts[index % len(self._prompts)]

    def _key(self, index: int) -> bytes:
        """Each sample has its own, so that no figure is about one key's lists."""
        return hashlib.blake2b(f"key {self._plan.seed} {index}".encode(), digest_size=32).digest()


class _Text:
    """A text that is written a few steps at a time.

    Args:
        model, sampler: what it is written with.
        start: begins it.

    Attributes:
        sampler: as given.
        seconds: that it took so far.
        model_seconds: of these, the model's.
    """

    def __init__(self, model: Clocked, sampler: Sampler, start: Callable[[], Writing]) -> None:
        self._model = model
        self.sampler = sampler
        self.seconds = self.model_seconds = 0.0
        self._writing = self._timed(start)

    def go_on(self) -> bool:
        """A few steps; whether there are more to come."""
        self._timed(self._steps)
        return self._writing.rollback.end is None

    def result(self) -> Generated:
        return self._timed(self._writing.result)

    def _steps(self) -> None:
        for _ in range(_TURN):
            self._writing.rollback.step()

    def _timed(self, work: Callable[[], T]) -> T:
        before = self._model.seconds
        seconds, result = timed(work)
        self.seconds += seconds
        self.model_seconds += self._model.seconds - before
        return result
