"""How much faster many texts are written at once than one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle, islice

import ticore
from benchmarks.prompts import prompts
from ticore.watermarking import Generated, Generator

_WARM_UP = 8  # tokens of one text, so that the first measured one does not pay for tables


@dataclass(frozen=True)
class Measured:
    """What one model took for the same prompts in both ways.

    Attributes:
        place, dtype: of the model.
        rows: how many prompts.
        tokens: of each text.
        together: tokens a second of all texts, written at once.
        apart: the same, one after the other.
        reading: seconds of `together` in which prompts were read, before any text began.
        rollbacks: in all texts that were written at once.
    """

    place: str
    dtype: str
    rows: int
    tokens: int
    together: float
    apart: float
    reading: float
    rollbacks: int

    @property
    def gain(self) -> float:
        """How many times as fast."""
        return self.together / self.apart


def measure(
    places: Iterable[str],
    *,
    rows: int = 32,
    tokens: int = 100,
    dtype: str = "float32",
    observation: int = 2,
    seed: int = 0,
) -> list[Measured]:
    """Write `rows` texts of `tokens` tokens with each model, at once and one by one.

    One way right after the other, in one process. Before, the very batch is written once, so that
    programs are compiled for the sizes that it goes through.

    Args:
        places: of models, such as `tiny-en`, `torch:tiny-en` and `jax:tiny-en`.
        dtype: that they compute in.
        observation: as for `ticore.watermarking.Generator`.
        seed: of the texts.
    """
    openings = list(islice(cycle(prompts(None, "en")), rows))
    return [_measure(place, openings, tokens, dtype, observation, seed) for place in places]


def _measure(
    place: str, openings: list[str], tokens: int, dtype: str, observation: int, seed: int
) -> Measured:
    model = ticore.load_model(place, dtype=dtype)

    def generator() -> Generator:
        return Generator(model, observation=observation, end_of_text=False, seed=seed)

    generator().generate_batch(openings, tokens)
    generator().generate(openings[0], _WARM_UP)

    at_once, one_by_one = generator(), generator()
    started = time.perf_counter()
    together = at_once.generate_batch(openings, tokens)
    seconds_together = time.perf_counter() - started
    started = time.perf_counter()
    apart = [one_by_one.generate(opening, tokens) for opening in openings]
    seconds_apart = time.perf_counter() - started
    return Measured(
        place=place,
        dtype=dtype,
        rows=len(openings),
        tokens=tokens,
        together=_written(together) / seconds_together,
        apart=_written(apart) / seconds_apart,
        reading=seconds_together - max(text.seconds for text in together),
        rollbacks=sum(text.rollbacks for text in together),
    )


def _written(texts: list[Generated]) -> int:
    return sum(len(text.ids) for text in texts)
