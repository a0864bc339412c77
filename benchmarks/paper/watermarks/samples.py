"""Samples: groups of texts that are written side by side, then attacked and detected."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks._harness.sampling import negative_log_likelihood, sample_random
from benchmarks.paper.part import groups
from benchmarks.paper.setting import Setting
from ticore.evaluation import Replacement
from ticore.interfaces import LanguageModel
from ticore.schemes import Scheme
from ticore.watermarking import Generated, Sampler, multinomial, watermarked_sampler

from .arms import SCHEMES, UNMARKED, Arm, arms_of, main_arms
from .attacking import replace_together
from .detecting import after_attack, detected, scheme_of
from .writing import Write, writer

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Task, Worker

LENGTH = 200
"""Tokens of a text."""

EPSILONS = (0.2, 0.4)
"""The share of tokens that each replacement attack chooses."""

_WARM_UP = 8  # tokens, so that no group's time includes building tables


def tasks(setting: Setting, samples: int) -> list[Task]:
    """Groups of each scheme in each of its arms.

    The arms of a group stand side by side, so that they run at about the same time, and what else
    the machine does affects them alike. They take turns in being the first.
    """
    cells = [
        (scheme, arm.name)
        for scheme in (UNMARKED, *SCHEMES)
        for arm in arms_of(scheme, setting.model.observation)
    ]
    return [
        (*cell, first)
        for number, (first,) in enumerate(groups(setting, samples))
        for cell in (cells[::-1] if number % 2 else cells)
    ]


def attack_name(epsilon: float) -> str:
    """The name of the attack that chooses this share of the tokens."""
    return f"replacement {epsilon:g}"


def rows(samples: Sequence[Sample], count: int) -> list[JsonObject]:
    """One row for each text, without those that the last group of a cell has too many."""
    found = [
        {name: value for name, value in sample.items() if name not in ("texts", "digest")} | text
        for sample in samples
        for text in sample["texts"]
        if text["index"] < count
    ]
    return sorted(found, key=lambda row: (row["scheme"], row["arm"], row["index"]))


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `GroupSampler.take`."""
    return GroupSampler(setting.model.open(), setting).take


class GroupSampler:
    """Takes samples with one model.

    A text of an index has the same prompt, key and random numbers in each arm, so that arms differ
    by the way they write alone.

    Args:
        model: that writes, attacks, and measures perplexities.
        setting: of the samples.
    """

    def __init__(self, model: LanguageModel, setting: Setting) -> None:
        self._model = model
        self._setting = setting
        self._writers: dict[str, Write] = {}

    def take(self, scheme: str, arm: str, first: int) -> Sample:
        """The texts of one scheme and arm from number `first` on.

        The fields `seconds` and `cpu_seconds` are of writing the whole group.
        """
        found = {each.name: each for each in arms_of(scheme, self._setting.model.observation)}[arm]
        write = self._writer(found)
        numbers = range(first, first + self._setting.batch)
        prompts = [self._prompt_ids(n) for n in numbers]
        schemes = [self._schemes(scheme, n) for n in numbers]
        samplers = [
            self._sampler(n, known.get(scheme)) for n, known in zip(numbers, schemes, strict=True)
        ]
        cpu, clock = time.process_time(), time.perf_counter()
        written = write(prompts, samplers.__getitem__, LENGTH)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        texts = [
            {"index": n, "prompt": self._prompt(n)} | self._measured(prompt, text, known)
            for n, prompt, text, known in zip(numbers, prompts, written, schemes, strict=True)
        ]
        if scheme != UNMARKED and found in main_arms(self._setting.model.observation):
            self._attack([known[scheme] for known in schemes], prompts, texts)
        return {
            "scheme": scheme,
            "arm": arm,
            "first": first,
            "observation": found.observation,
            "end_of_text": found.end_of_text,
            "group_size": len(texts),
            "seconds": clock,
            "cpu_seconds": cpu,
            "texts": texts,
        }

    def _writer(self, arm: Arm) -> Write:
        if arm.name not in self._writers:
            self._writers[arm.name] = write = writer(self._model, arm)
            draw = sample_random(self._setting.seed, 0, "warm-up")
            write([self._prompt_ids(0)], lambda row: multinomial(draw), _WARM_UP)
        return self._writers[arm.name]

    def _prompt(self, number: int) -> str:
        return self._setting.prompts[number % len(self._setting.prompts)]

    def _prompt_ids(self, number: int) -> list[int]:
        return self._model.tokenizer.encode(self._prompt(number))

    def _schemes(self, scheme: str, number: int) -> dict[str, Scheme]:
        """What is looked for in a text: its own scheme, or in an unmarked text each one."""
        names = SCHEMES if scheme == UNMARKED else (scheme,)
        return {name: scheme_of(self._model, self._setting, name, number) for name in names}

    def _sampler(self, number: int, scheme: Scheme | None) -> Sampler:
        draw = sample_random(self._setting.seed, number)
        return multinomial(draw) if scheme is None else watermarked_sampler(scheme, draw)

    def _measured(
        self, prompt: list[int], text: Generated, schemes: dict[str, Scheme]
    ) -> JsonObject:
        read_ids, ids = self._model.tokenizer.encode(text.text), list(text.ids)
        nll = nll_read = negative_log_likelihood(self._model, prompt, ids)
        if read_ids != ids:
            nll_read = negative_log_likelihood(self._model, prompt, read_ids)
        return {
            "text": text.text,
            "ids": ids,
            "end": text.end,
            "token_count": len(ids),
            "read_token_count": len(read_ids),
            "rollbacks": text.rollbacks,
            "temporary": text.temporary,
            "backtracks": text.backtracks,
            "forwards": text.forwards,
            "consistent": text.consistent,
            "nll": nll,
            "nll_read": nll_read,
            "detections": {
                name: detected(self._model, each, read_ids)
                | {"strength_of_written": detected(self._model, each, ids)["strength"]}
                for name, each in schemes.items()
            },
            "attacks": {},
        }

    def _attack(
        self,
        schemes: Sequence[Scheme],
        prompts: Sequence[list[int]],
        texts: Sequence[JsonObject],
    ) -> None:
        """Add to each text what is detected after each attack."""
        for epsilon in EPSILONS:
            name = attack_name(epsilon)
            attacks = [
                Replacement(
                    self._model,
                    epsilon,
                    sample_random(self._setting.seed, text["index"], name),
                    prompt=prompt,
                )
                for text, prompt in zip(texts, prompts, strict=True)
            ]
            attacked = replace_together(self._model, attacks, [text["text"] for text in texts])
            for text, scheme, prompt, after in zip(texts, schemes, prompts, attacked, strict=True):
                text["attacks"][name] = after_attack(self._model, prompt, scheme, after)
