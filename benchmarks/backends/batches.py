"""How much faster many texts are written in a batch than one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import ticore
from benchmarks._harness.timing import timed
from ticore.watermarking import Generated, Generator

TOKEN_COUNT = 100
"""Tokens per text."""

_WARM_UP = 8  # tokens of one text, so that the first timed text does not include building tables


@dataclass(frozen=True)
class BatchSpeed:
    """The speed of one model in both ways, with the same prompts.

    Attributes:
        model: what `ticore.load_model` opened.
        dtype: that it computes in.
        text_count: how many prompts.
        token_count: per text.
        batched: tokens per second of all texts, in a batch.
        one_by_one: tokens per second, one text after the other.
        prompt_seconds: in a batch, before any text begins.
        rollbacks: in all texts of the batch.
    """

    model: str
    dtype: str
    text_count: int
    token_count: int
    batched: float
    one_by_one: float
    prompt_seconds: float
    rollbacks: int

    @property
    def gain(self) -> float:
        """How many times as fast the batch is."""
        return self.batched / self.one_by_one


def measure_batches(
    models: Iterable[str],
    prompts: Sequence[str],
    *,
    text_count: int = 32,
    token_count: int = TOKEN_COUNT,
    dtype: str = "float32",
    seed: int = 0,
) -> list[BatchSpeed]:
    """Write the same texts with each model, in a batch and one by one.

    Both ways run in one process, one right after the other. The same batch is written once before,
    so that programs are compiled for its sizes.

    Args:
        models: what `ticore.load_model` opens.
        prompts: used in turn.
        text_count: how many texts.
        token_count: per text.
        dtype: that models compute in.
        seed: of the texts.
    """
    chosen = list(islice(cycle(prompts), text_count))
    return [_measure(place, chosen, token_count, dtype, seed) for place in models]


def _measure(place: str, prompts: list[str], token_count: int, dtype: str, seed: int) -> BatchSpeed:
    model = ticore.load_model(place, dtype=dtype)

    def generator() -> Generator:
        return Generator(model, end_of_text=False, seed=seed)

    generator().generate_batch(prompts, max_new_tokens=token_count)
    generator().generate(prompts[0], max_new_tokens=_WARM_UP)

    batch_generator, generator_one_by_one = generator(), generator()
    batch_seconds, batch = timed(
        lambda: batch_generator.generate_batch(prompts, max_new_tokens=token_count)
    )
    seconds, texts = timed(
        lambda: [
            generator_one_by_one.generate(prompt, max_new_tokens=token_count) for prompt in prompts
        ]
    )
    return BatchSpeed(
        model=place,
        dtype=dtype,
        text_count=len(prompts),
        token_count=token_count,
        batched=_token_count(batch) / batch_seconds,
        one_by_one=_token_count(texts) / seconds,
        prompt_seconds=batch_seconds - max(text.seconds for text in batch),
        rollbacks=sum(text.rollbacks for text in batch),
    )


def _token_count(texts: list[Generated]) -> int:
    return sum(len(text.ids) for text in texts)
