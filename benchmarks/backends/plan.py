"""Which samples are taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ticore.codecs import CODECS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Task

TASK_NAMES = ("part", "subject", "grid_bits", "index")
"""The fields of a sample that hold its task. `subject` is a codec, or a model in `EXCHANGE`."""

SAME_STACK, PORTABLE, EXCHANGE = "same-stack", "portable", "exchange"
PORTABLE_GRID = 10


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        models: one model in several backends.
        bits: per message.
        top_k: candidates per step.
        codecs: whose robustness is measured.
        grids: the values of `grid_bits` that it is measured with.
        noise_levels: how much the reader's logits differ; see `PerturbedModel`.
        seed: of messages and noise.
    """

    models: tuple[str, ...] = ("tiny-en", "torch:tiny-en", "jax:tiny-en")
    bits: int = 128
    top_k: int = 64
    codecs: tuple[str, ...] = tuple(sorted(CODECS))
    grids: tuple[int, ...] = (10, 6, 4)
    noise_levels: tuple[float, ...] = tuple(10.0**-e for e in range(15, 3, -1))
    seed: int = 0

    def robustness_tasks(self, samples: int) -> Iterator[Task]:
        """Texts that are read with noise, `samples` of each kind."""
        for index in range(samples):
            for codec in self.codecs:
                for grid in self.grids:
                    yield SAME_STACK, codec, grid, index
                yield PORTABLE, codec, PORTABLE_GRID, index

    def exchange_tasks(self, samples: int) -> Iterator[Task]:
        """Texts that are read with every backend, `samples` written with each."""
        for index in range(samples):
            for place in self.models:
                yield EXCHANGE, place, PORTABLE_GRID, index

    def shared_settings(self) -> JsonObject:
        """The settings that a sample depends on besides its task.

        The first model writes all texts of the robustness part, and all models read the texts of
        the exchange part.
        """
        in_the_task = ("codecs", "grids")
        return {name: value for name, value in asdict(self).items() if name not in in_the_task}
