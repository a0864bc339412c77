"""Samples: texts that the model writes freely, and where they are inconsistent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks._harness.sampling import sample_random
from benchmarks.paper.free_texts import FreeSampling, choose
from benchmarks.paper.setting import Setting
from benchmarks.paper.side_by_side import SideBySide
from ticore._support.common_beginning import common_length
from ticore.consistency import Comparison, Verifier, compare
from ticore.errors import TicoreError
from ticore.evaluation._metrics import kl_divergence, softmax, total_variation
from ticore.interfaces import LanguageModel, Tokenizer
from ticore.steganography._jobs import Job, NewText, begin_text
from ticore.steganography._lockstep import run_together

from .plan import CANDIDATES, LENGTHS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker

_SHOWN = 4  # tokens beside an inconsistency in an example


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `Sampler.take`."""
    return Sampler.opened(setting).take


class Sampler(SideBySide):
    """Takes samples with one model."""

    def __init__(self, model: LanguageModel, setting: Setting) -> None:
        super().__init__(model, setting)
        self._verifier = Verifier(model.tokenizer)
        self._sampling = FreeSampling(model)

    def take(self, first: int) -> Sample:
        """The texts from number `first` on, written side by side."""
        numbers = self.numbers(first)
        prompts = [self._setting.prompt(n) for n in numbers]
        jobs = [
            self._write(self._model.tokenizer.encode(prompt), sample_random(self._setting.seed, n))
            for n, prompt in zip(numbers, prompts, strict=True)
        ]
        texts = []
        for n, prompt, found in zip(
            numbers, prompts, run_together(self._model, jobs, len(jobs)), strict=True
        ):
            if isinstance(found, TicoreError):
                raise found
            texts.append({"index": n, "prompt": prompt} | self._measured(found))
        return {"first": first, "texts": texts}

    def _write(self, prompt_ids: list[int], draw: random.Random) -> Job[_Written]:
        """Write one text of the longest of `LENGTHS`."""
        written = _Written(prompt_ids)
        decoder = yield from begin_text(NewText(prompt_ids))
        verification = self._verifier.start(prompt_ids)
        for _ in range(max(LENGTHS)):
            probs = self._sampling.distribution(decoder)
            if verification.consistent:
                top = np.argpartition(-probs, CANDIDATES)[:CANDIDATES]
                written.see_candidates(probs[top], ~verification.admits(top.tolist()))
            token = choose(probs, draw)
            verification.push(token)
            written.ids.append(token)
            written.consistent.append(verification.consistent)
            if len(written.ids) < max(LENGTHS):
                yield token
        return written

    def _measured(self, written: _Written) -> JsonObject:
        tokenizer, start = self._model.tokenizer, len(written.prompt_ids)
        lengths = {
            str(length): _differences(compare(tokenizer, written.whole(length)), start)
            for length in LENGTHS
        }
        return {
            "text": tokenizer.decode(written.whole()),
            "ids": written.ids,
            "consistent": "".join("01"[each] for each in written.consistent),
            "lengths": lengths,
            "steps": written.steps,
            "candidate_number": written.candidate_number,
            "candidate_probability": written.candidate_probability,
            "example": self._example(written),
        }

    def _example(self, written: _Written) -> JsonObject | None:
        """The first inconsistency: its tokens, and what it does to what the model predicts."""
        if all(written.consistent):
            return None
        tokenizer, length = self._model.tokenizer, written.consistent.index(False) + 1
        found = compare(tokenizer, written.whole(length))
        return {
            "length": length,
            "sits": len(found.sits),
            "cits": len(found.cits),
            "written": _shown(tokenizer, found.ids, found.again),
            "read": _shown(tokenizer, found.again, found.ids),
            "prediction": _prediction(self._model, found),
        }


@dataclass
class _Written:
    """A text that is being written.

    Attributes:
        prompt_ids: what it continues.
        ids: its tokens so far.
        consistent: for each token, whether the text up to it is consistent.
        steps: how many steps began with a consistent text.
        candidate_number: the sum over these steps of the share of candidates that are inconsistent.
        candidate_probability: the same of their probability, as a share of all candidates'.
    """

    prompt_ids: list[int]

    def __post_init__(self) -> None:
        self.ids: list[int] = []
        self.consistent: list[bool] = []
        self.steps = 0
        self.candidate_number = 0.0
        self.candidate_probability = 0.0

    def whole(self, length: int | None = None) -> list[int]:
        """The prompt and the first `length` tokens."""
        return [*self.prompt_ids, *self.ids[:length]]

    def see_candidates(
        self, probs: npt.NDArray[np.float64], inconsistent: npt.NDArray[np.bool_]
    ) -> None:
        """Count the candidates of a step."""
        self.steps += 1
        self.candidate_number += float(inconsistent.mean())
        self.candidate_probability += float(probs[inconsistent].sum() / probs.sum())


def _differences(found: Comparison, start: int) -> JsonObject:
    """What is inconsistent in a text, and how many tokens it has after the prompt."""
    return {
        "consistent": found.consistent,
        "sits": len(found.sits),
        "cits": len(found.cits),
        "written": len(found.ids) - start,
        "read": len(found.again) - start,
    }


def _shown(tokenizer: Tokenizer, ids: Sequence[int], others: Sequence[int]) -> list[str]:
    """The tokens of `ids` from a little before they differ from `others`."""
    same = common_length(ids, others)
    return [_spelled(tokenizer, each) for each in ids[max(0, same - _SHOWN) :]]


def _spelled(tokenizer: Tokenizer, token: int) -> str:
    return tokenizer.token_bytes(token).decode("utf-8", "backslashreplace")


def _prediction(model: LanguageModel, found: Comparison) -> JsonObject | None:
    """How far apart the next token's probabilities are after the two lists of the same text."""
    if max(len(found.ids), len(found.again)) >= model.context_length:
        return None
    after_written, after_read = (
        softmax(_next_logits(model, ids)) for ids in (found.ids, found.again)
    )
    return {
        "total_variation": total_variation(after_read, after_written),
        "kl": kl_divergence(after_written, after_read),
        "likeliest": [
            {"token": _spelled(model.tokenizer, int(p.argmax())), "probability": float(p.max())}
            for p in (after_written, after_read)
        ],
    }


def _next_logits(model: LanguageModel, ids: Sequence[int]) -> npt.NDArray[np.float64]:
    return np.asarray(model.start(list(ids)).logits(), dtype=np.float64)
