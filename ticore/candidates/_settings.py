"""The settings that shape a pool of candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._support.checks import require_integer, require_number, require_temperature

MAX_WEIGHT_BITS = 32  # unnormalized probability x weight then stays below 2^63
MAX_GRID_BITS = 12  # the table of exponentials has 21 x 2^grid_bits entries
PROB_BITS = 30  # unnormalized probabilities are exp(rounded logit - largest) in units of 2^-30


@dataclass(frozen=True)
class PoolSettings:
    """The settings that shape a pool of candidates.

    Attributes:
        temperature: divides the logits; finite, at least 1e-6.
        top_k: keep the k most probable tokens, at least 1; None keeps all.
        top_p: of those, keep the fewest that have at least this share of their probability; in
            (0, 1].
        grid_bits: logits are rounded to multiples of 2^-grid_bits; 0 to 12.
        weight_bits: integer weights sum to 2^weight_bits; 8 to 32. A pool may have half as many
            tokens; a larger one raises SettingsError when it comes.

    Raises:
        SettingsError: a value is out of range.
    """

    temperature: float = 1.0
    top_k: int | None = 64
    top_p: float = 1.0
    grid_bits: int = 10
    weight_bits: int = 32

    def __post_init__(self) -> None:
        # 1, 1.0 and NumPy's 1 are the same setting, and are stored alike.
        checked = {
            "temperature": require_temperature(self.temperature),
            "top_k": None if self.top_k is None else require_integer("top_k", self.top_k, 1),
            "top_p": require_number("top_p", self.top_p, above=0, most=1),
            "grid_bits": require_integer("grid_bits", self.grid_bits, 0, MAX_GRID_BITS),
            "weight_bits": require_integer("weight_bits", self.weight_bits, 8, MAX_WEIGHT_BITS),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def rounding_bound(self, pool_size: int) -> float:
        """How far rounding can move a pool's probabilities, as total variation distance.

        Between the model's probabilities (softmax of its logits over the temperature, within the
        pool) and the integer weights, whatever the logits:

        1. Half a step of the grid multiplies each probability by exp(h) at most and by exp(-h) at
           least, h = 2^-(grid_bits + 1), before they are normalized. That moves tanh(h / 2).
        2. Unnormalized probabilities are cut to units of 2^-30, and the largest is 1: n x 2^-30.
        3. Weights are cut to units of 2^-weight_bits, and each is at least one: n x 2^-weight_bits.

        So no token of a pool becomes impossible, and none is likelier by more than this.

        Args:
            pool_size: n, at least 1.

        >>> PoolSettings().rounding_bound(64) < 0.00025
        True
        """
        require_integer("pool_size", pool_size, 1)
        grid = math.tanh(2.0 ** -(self.grid_bits + 2))
        return grid + pool_size * (2.0**-PROB_BITS + 2.0**-self.weight_bits)
