"""What is to be measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.workers import Task
from ticore.codecs import CODECS

# The parts of a task.
NAMES = ("part", "what", "grid_bits", "index")
SAME_STACK, PORTABLE, EXCHANGE = "same-stack", "portable", "exchange"
PORTABLE_GRID = 10


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Attributes:
        places: of one model in several backends.
        bits: of a message.
        top_k: candidates a step.
        codecs: whose robustness is looked at.
        grids: grid_bits under which it is.
        noises: how far off the reader's logits are at most: each is off by a number drawn
            uniformly from [-noise, noise].
        seed: of messages and noise.
    """

    places: tuple[str, ...] = ("tiny-en", "torch:tiny-en", "jax:tiny-en")
    bits: int = 128
    top_k: int = 64
    codecs: tuple[str, ...] = tuple(sorted(CODECS))
    grids: tuple[int, ...] = (10, 6, 4)
    noises: tuple[float, ...] = tuple(10.0**-e for e in range(15, 3, -1))
    seed: int = 0

    def robustness(self, samples: int) -> Iterator[Task]:
        """Texts that are read with noise, `samples` of each kind."""
        for index in range(samples):
            for codec in self.codecs:
                for grid in self.grids:
                    yield SAME_STACK, codec, grid, index
                yield PORTABLE, codec, PORTABLE_GRID, index

    def exchange(self, samples: int) -> Iterator[Task]:
        """Texts that are read with every backend, `samples` by each."""
        for index in range(samples):
            for place in self.places:
                yield EXCHANGE, place, PORTABLE_GRID, index

    def shared(self) -> dict[str, Any]:
        """All that every sample depends on, whatever its kind."""
        varied = ("codecs", "grids", "places")
        return {name: value for name, value in asdict(self).items() if name not in varied}
