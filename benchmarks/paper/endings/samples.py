"""Samples: texts that hold messages of several sizes, and free ones, as an observer reads them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import ticore
from benchmarks._harness.sampling import drawn, sample_key, sample_random
from benchmarks.paper.prompt_cuts import as_given_back
from benchmarks.paper.setting import Setting
from benchmarks.paper.side_by_side import SideBySide
from ticore.errors import CapacityError, TicoreError
from ticore.steganography._ending import _SENTENCE_END
from ticore.steganography._extraction import read_bits
from ticore.steganography._jobs import Job
from ticore.steganography._lockstep import run_together
from ticore.steganography._setup import Finish

from .plan import AT_ONCE, CANDIDATES, FREE, LONGEST, PAPER, SENTENCE, USUAL

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker
    from ticore.candidates import Ints
    from ticore.steganography._setup import Setup
    from ticore.steganography._text_state import TextState

_FINISH: Mapping[str, Finish] = {
    PAPER: "none",
    AT_ONCE: "none",
    SENTENCE: "sentence",
    USUAL: "sentences",
    FREE: "none",
}
_DIGITS = 4  # of a surprisal in bits; a text's sum is then right to a hundredth of a bit


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `Sampler.take`."""
    return Sampler.opened(setting).take


class Sampler(SideBySide):
    """Takes samples with one model."""

    dtype = "float64"

    def take(self, ending: str, size: int, first: int) -> Sample:
        """The texts from number `first` on, written and then observed side by side."""
        numbers = self.numbers(first)
        stego = ticore.Steganographer(
            self._model,
            key=sample_key(self._setting.seed, first),
            top_k=CANDIDATES,
            mode="prefix",
            numerics="portable",
            finish=_FINISH[ending],
            pad="sizes" if ending == USUAL else "none",
            entropy=self._random(first, f"entropy {ending} {size}").randbytes,
        )
        setups = [stego.with_prompt(self._prompt(n))._setup for n in numbers]
        draws = [self._random(n, f"{ending} {size}") for n in numbers]
        if ending == FREE:
            jobs = [free_text(each, draw) for each, draw in zip(setups, draws, strict=True)]
        else:
            written = self._written(stego, ending, numbers, [d.randbytes(size) for d in draws])
            jobs = [observed(each, text) for each, text in zip(setups, written, strict=True)]
        found = run_together(self._model, jobs, len(jobs))
        kind = {"ending": ending, "size": size}
        texts = [
            kind | {"index": n} | (_failure(each) if isinstance(each, TicoreError) else each)
            for n, each in zip(numbers, found, strict=True)
        ]
        return kind | {"first": first, "texts": texts}

    def _written(
        self,
        stego: ticore.Steganographer,
        ending: str,
        numbers: Sequence[int],
        messages: Sequence[bytes],
    ) -> list[ticore.Embedding | TicoreError]:
        prompts, size = [self._prompt(n) for n in numbers], len(numbers)
        if ending != PAPER:
            return stego.embed_batch(messages, prompts=prompts, batch_size=size)
        bits = [np.unpackbits(np.frombuffer(each, np.uint8)).tolist() for each in messages]
        return stego.embed_bits_batch(bits, stop="paper", prompts=prompts, batch_size=size)

    def _prompt(self, number: int) -> str:
        return as_given_back(self._model, self._setting.prompt(number))

    def _random(self, number: int, purpose: str) -> random.Random:
        return sample_random(self._setting.seed, number, f"endings {purpose}")


class _Notes:
    """What an observer notes at each token of a text."""

    def __init__(self, state: TextState) -> None:
        self._state = state
        self._surprisals: list[float] = []
        self._sentence_ends: list[int] = []

    def add(self, weights: Ints, index: int) -> None:
        """Note the token that was just pushed: a choice among integer weights int64[n]."""
        surprisal = math.log2(int(weights.sum()) / int(weights[index]))
        self._surprisals.append(round(surprisal, _DIGITS))
        if _SENTENCE_END.search(self._state.text()):
            self._sentence_ends.append(len(self._surprisals) - 1)

    def as_json(self) -> JsonObject:
        """`surprisals` in bits, one of each token; `sentence_ends`, the tokens that end one."""
        return {
            "text": self._state.text(),
            "surprisals": self._surprisals,
            "sentence_ends": self._sentence_ends,
        }


def observed(setup: Setup, written: ticore.Embedding | TicoreError) -> Job[JsonObject]:
    """What an observer without the key sees of a text; `bits` is what it holds."""
    if isinstance(written, TicoreError):
        raise written
    received = setup.received(next(setup.readings(written)))
    state = yield from setup.begin(received.known_ids)
    notes = _Notes(state)
    reader = _WithoutKey()

    def take(value: int, count: int) -> bool:
        notes.add(*reader.seen)
        return False

    yield from read_bits(state, received, reader, take)
    return notes.as_json() | {"bits": written.bits, "ended": True}


class _WithoutKey:
    """A Reader of no codec: it keeps the last choice that it was shown."""

    def __init__(self) -> None:
        self.seen: tuple[Ints, int] = np.ones(1, dtype=np.int64), 0

    def observe(self, weights: Ints, index: int) -> tuple[int, int]:
        self.seen = weights, index
        return 0, 0

    def remainder(self, count: int) -> int:
        raise CapacityError(f"expected no bits to be asked for, found {count}")


def free_text(setup: Setup, draw: random.Random) -> Job[JsonObject]:
    """A text of the same choices without a message, which ends where the model would end it."""
    state = yield from setup.begin()
    notes, ended = _Notes(state), False
    for _ in range(LONGEST):
        try:
            step = yield from state.next_step()
        except CapacityError:
            break
        ended = state.may_end() and draw.random() < step.chance_of_end
        if ended:
            break
        index = drawn(step.weights, draw)
        state.push(step.token(index))
        notes.add(step.weights, index)
    return notes.as_json() | {"bits": 0, "ended": ended}


def _failure(error: TicoreError) -> JsonObject:
    return {"text": None, "error": str(error)}
