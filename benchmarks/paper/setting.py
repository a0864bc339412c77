"""What the samples of one model depend on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from benchmarks._harness.types import JsonObject

from .stand_ins import StandIn


@dataclass(frozen=True)
class Setting:
    """What the samples of one model depend on.

    Attributes:
        model: that writes.
        prompts: sample `n` has prompt `n`, modulo their number.
        batch: how many texts are written side by side.
        seed: of all random numbers and keys.
        candidates: the numbers of candidates (k) that messages are hidden with; None: the paper's.
        methods: that messages are hidden with; None: all.
    """

    model: StandIn
    prompts: tuple[str, ...]
    batch: int
    seed: int = 0
    candidates: tuple[int, ...] | None = None
    methods: tuple[str, ...] | None = None

    def prompt(self, number: int) -> str:
        """What sample `number` continues."""
        return self.prompts[number % len(self.prompts)]

    def facts(self) -> JsonObject:
        """The setting as JSON, for the digest of its samples.

        `candidates` and `methods` say which samples are taken, and change none of them.
        """
        chosen = ("candidates", "methods")
        return {name: value for name, value in asdict(self).items() if name not in chosen}
