"""The settings that shape a pool of candidates."""

from __future__ import annotations

from dataclasses import dataclass

from .._support.checks import require_integer, require_number

MAX_WEIGHT_BITS = 32  # unnormalized probability x weight then stays below 2^63
MAX_GRID_BITS = 12  # the table of exponentials has 21 x 2^grid_bits entries


@dataclass(frozen=True)
class PoolSettings:
    """The settings that shape a pool of candidates.

    Attributes:
        temperature: divides the logits; finite and above 0.
        top_k: keep the k most probable tokens, at least 1; None keeps all.
        top_p: of those, keep the fewest that have at least this share of their probability; in
            (0, 1].
        grid_bits: logits are rounded to multiples of 2^-grid_bits; 0 to 12.
        weight_bits: integer weights sum to 2^weight_bits; 8 to 32.

    Raises:
        SettingsError: a value is out of range.
    """

    temperature: float = 1.0
    top_k: int | None = 64
    top_p: float = 1.0
    grid_bits: int = 10
    weight_bits: int = 32

    def __post_init__(self) -> None:
        # 1 and 1.0 are the same setting, and are stored alike.
        object.__setattr__(
            self, "temperature", require_number("temperature", self.temperature, above=0)
        )
        object.__setattr__(self, "top_p", require_number("top_p", self.top_p, above=0, most=1))
        if self.top_k is not None:
            require_integer("top_k", self.top_k, 1)
        require_integer("grid_bits", self.grid_bits, 0, MAX_GRID_BITS)
        require_integer("weight_bits", self.weight_bits, 8, MAX_WEIGHT_BITS)
