"""Samples: texts that the model writes freely, read back as a receiver reads them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks._harness.sampling import sample_random
from benchmarks._harness.text_statistics import read_back
from benchmarks.paper.free_texts import FreeSampling, choose
from benchmarks.paper.prompt_cuts import as_given_back
from benchmarks.paper.setting import Setting
from benchmarks.paper.side_by_side import SideBySide
from ticore.errors import TicoreError
from ticore.interfaces import LanguageModel
from ticore.steganography._jobs import Job, NewText, begin_text
from ticore.steganography._lockstep import run_together

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker

SHORTEST, LONGEST = 10, 128
"""Tokens of a cover; every length is as likely (the paper, section 5)."""


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `Sampler.take`."""
    return Sampler.opened(setting).take


class Sampler(SideBySide):
    """Takes samples with one model, which computes as it does for messages."""

    dtype = "float64"

    def __init__(self, model: LanguageModel, setting: Setting) -> None:
        super().__init__(model, setting)
        self._sampling = FreeSampling(model)

    def take(self, first: int) -> Sample:
        """The texts from number `first` on, written side by side."""
        numbers = self.numbers(first)
        prompts = [as_given_back(self._model, self._setting.prompt(n)) for n in numbers]
        encode = self._model.tokenizer.encode
        draws = [sample_random(self._setting.seed, n, "cover") for n in numbers]
        jobs = [
            self._write(encode(prompt), draw) for prompt, draw in zip(prompts, draws, strict=True)
        ]
        texts = []
        written = run_together(self._model, jobs, len(jobs))
        for n, prompt, ids in zip(numbers, prompts, written, strict=True):
            if isinstance(ids, TicoreError):
                raise ids
            text = self._model.tokenizer.decode(ids)
            read = read_back(self._model, prompt, text)
            texts.append({"index": n, "prompt": prompt, "text": text, "read": read})
        return {"first": first, "texts": texts}

    def _write(self, prompt_ids: list[int], draw: random.Random) -> Job[list[int]]:
        """A text of the prompt and as many tokens as chance gives."""
        ids = list(prompt_ids)
        length = draw.randint(SHORTEST, LONGEST)
        decoder = yield from begin_text(NewText(prompt_ids))
        for n in range(length):
            ids.append(choose(self._sampling.distribution(decoder), draw))
            if n < length - 1:
                yield ids[-1]
        return ids
