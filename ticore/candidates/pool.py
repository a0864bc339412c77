"""The pool of one step, and its integer weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MASS_BITS = 30  # a mass is exp(rounded logit - the largest one) in units of 2^-30
# Below any rounded logit: an id that is never a candidate.
NEVER = np.int64(-(2**62))


@dataclass(frozen=True)
class Pool:
    """Tokens to choose from, the most probable first, equal ones by id.

    Attributes:
        ids: int64[n], distinct token ids.
        levels: int64[n], their rounded logits in units of 2^-grid_bits.
        grid_bits: the grid that `levels` lie on.
    """

    ids: Ints
    levels: Ints
    grid_bits: int = 10

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def mass(self) -> Ints:
        """Unnormalised probabilities int64[n] in units of 2^-30, the largest being 1.

        0 where a token is fainter than that. They are relative to this pool's own largest one,
        so a pool that lost its most probable token still tells the others apart.
        """
        table = _exponentials(self.grid_bits)
        below = self.levels.max(initial=NEVER) - self.levels
        mass: Ints = table[np.minimum(below, len(table) - 1)]
        return mass

    def keep(self, which: Bools | slice) -> Pool:
        """The pool of the tokens that `which`, a mask bool[n] or a slice, selects."""
        return Pool(self.ids[which], self.levels[which], self.grid_bits)


def to_weights(mass: Ints, bits: int) -> Ints:
    """Integer weights int64[n] in proportion to `mass`, each at least 1, that sum to 2^bits.

    Args:
        mass: int64[n], 0 to 2^30 each; what rounding leaves over goes to the first.
        bits: 8 to 32.

    Raises:
        SettingsError: n is more than half of 2^bits.

    >>> to_weights(np.array([6, 2]), 8).tolist()
    [192, 64]
    """
    total, count = 1 << bits, len(mass)
    if 2 * count > total:
        raise SettingsError(
            f"a pool of {count} tokens needs weight_bits of at least {count.bit_length() + 1}, "
            f"found {bits}; raise it or lower top_k"
        )
    whole = max(int(mass.sum()), 1)
    weights = 1 + mass * (total - count) // whole
    weights[0] += total - int(weights.sum())
    return weights


@cache
def _exponentials(grid_bits: int) -> Ints:
    """Table int64[n] of floor(2^30 exp(-i / 2^grid_bits)), ending with a zero.

    Computed with integers alone: a float exp may differ in its last bit from machine to machine.
    """
    precision = 160
    one = 1 << precision
    # Taylor series of exp(-2^-grid_bits) in fixed point.
    ratio, term, n = 0, one, 0
    while term:
        ratio += term if n % 2 == 0 else -term
        n += 1
        term = (term >> grid_bits) // n
    table, value = [], one
    while value >> (precision - MASS_BITS):
        table.append(value >> (precision - MASS_BITS))
        value = value * ratio >> precision
    return np.array([*table, 0], dtype=np.int64)
