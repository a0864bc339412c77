"""Samples: groups of texts of all kinds, as the observer sees them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ticore
from benchmarks._harness.sampling import sample_key, sample_random
from ticore.errors import TicoreError
from ticore.steganography._jobs import Job
from ticore.steganography._lockstep import run_together

from .observing import in_pool, observed
from .plan import SAME, SEALED, WHOLE, Plan
from .writing import frame_bits, free_text, free_text_of_length

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker
    from ticore.steganography._setup import Setup

Written = Mapping[int, ticore.Embedding]
"""The texts of a kind by their numbers, without those that could not be written."""


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take`."""
    return Sampler(plan, prompts).take


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: text `n` of each kind has prompt `n`, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        self._plan = plan
        self._prompts = prompts
        self._model = ticore.load_model(plan.model, dtype="float64")

    def take(self, first: int, count: int) -> Sample:
        """A sample: the texts of each kind from number `first` on. All follows from the numbers.

        A text that does not fit the model's context is left out.
        """
        numbers = range(first, first + count)
        sizes = {n: self._random(n, "size").randint(1, self._plan.largest) for n in numbers}
        sealed, same = self._sealed(sizes), self._same(numbers)
        whole = self._whole({n: text.token_count for n, text in same.items()})
        texts = [
            *({"size": sizes[text["index"]]} | text for text in self._seen(SEALED, sealed)),
            *self._seen(SAME, same),
            *self._seen(WHOLE, whole),
        ]
        return {"first": first, "count": count, "texts": texts}

    def _sealed(self, sizes: Mapping[int, int]) -> Written:
        """Sealed messages of these sizes."""
        messages = [self._random(n, "message").randbytes(size) for n, size in sizes.items()]
        found = self._usual(SEALED, min(sizes)).embed_batch(
            messages, prompts=[self._prompt(n) for n in sizes], batch_size=len(sizes)
        )
        return _written(dict(zip(sizes, found, strict=True)))

    def _same(self, numbers: Sequence[int]) -> Written:
        """Free samples of the same candidates, as long as messages of other random sizes."""
        stego = self._usual(SAME, min(numbers))
        jobs = {}
        for n in numbers:
            setup, draw = self._setup(stego, n), self._random(n, "same")
            bits = frame_bits(setup, draw.randint(1, self._plan.largest), draw.randbytes)
            jobs[n] = free_text(setup, draw, bits)
        return _written(self._together(jobs))

    def _whole(self, tokens: Mapping[int, int]) -> Written:
        """Free samples of the whole vocabulary, of that many tokens and their ending."""
        stego = self._steganographer(WHOLE, min(tokens), top_k=None, disambiguation="none")
        return _written(
            self._together(
                {
                    n: free_text_of_length(self._setup(stego, n), self._random(n, "whole"), count)
                    for n, count in tokens.items()
                }
            )
        )

    def _seen(self, kind: str, written: Written) -> list[JsonObject]:
        """What the observer sees of each text."""
        seen: dict[int, JsonObject] = {
            n: {"kind": kind, "index": n, "bits": text.bits, "message_tokens": text.token_count}
            | observed(self._model, self._prompt(n), text.text)
            for n, text in written.items()
        }
        if kind != WHOLE:
            stego = self._usual(kind, min(written))
            pools = self._together(
                {n: in_pool(self._setup(stego, n), text["ids"]) for n, text in seen.items()}
            )
            for n, pool in pools.items():
                if isinstance(pool, TicoreError):
                    raise pool
                seen[n] |= pool
        return list(seen.values())

    def _together(self, jobs: Mapping[int, Job[Any]]) -> dict[int, Any]:
        found = run_together(self._model, list(jobs.values()), len(jobs))
        return dict(zip(jobs, found, strict=True))

    def _usual(self, kind: str, first: int) -> ticore.Steganographer:
        return self._steganographer(kind, first, top_k=self._plan.top_k)

    def _steganographer(self, kind: str, first: int, **settings: Any) -> ticore.Steganographer:
        """Texts that are written side by side have one key."""
        return ticore.Steganographer(
            self._model,
            key=sample_key(self._plan.seed, first),
            numerics="portable",
            entropy=self._random(first, f"entropy of {kind}").randbytes,
            **settings,
        )

    def _setup(self, stego: ticore.Steganographer, number: int) -> Setup:
        return stego.with_prompt(self._prompt(number))._setup

    def _prompt(self, number: int) -> str:
        return self._prompts[number % len(self._prompts)]

    def _random(self, number: int, purpose: str) -> random.Random:
        return sample_random(self._plan.seed, number, f"observer {purpose}")


def _written(found: Mapping[int, ticore.Embedding | TicoreError]) -> Written:
    return {n: text for n, text in found.items() if isinstance(text, ticore.Embedding)}
