"""The pool of one step, and its integer weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from .._support.deprecation import warn_deprecated
from ..errors import SettingsError
from ._settings import PROB_BITS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# The rounded logit of an id that is never a candidate: lower than any other.
NEVER = np.int64(-(2**62))


@dataclass(frozen=True)
class Pool:
    """Tokens to choose from: the most probable first, equally probable ones by id.

    Attributes:
        ids: int64[n], distinct token ids.
        rounded_logits: int64[n], their logits, rounded, in units of 2^-grid_bits.
        grid_bits: logits are rounded to multiples of 2^-grid_bits.
    """

    ids: Ints
    rounded_logits: Ints
    grid_bits: int = 10

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def unnormalized_probs(self) -> Ints:
        """Probabilities divided by the largest one: int64[n] in units of 2^-30.

        0 for a token whose value is below 2^-30. The largest one is that of this pool, not of the
        vocabulary. So values stay distinct also where the most probable token was removed.
        """
        table = _exponentials(self.grid_bits)
        below = self.rounded_logits.max(initial=NEVER) - self.rounded_logits
        probs: Ints = table[np.minimum(below, len(table) - 1, out=below)]
        return probs

    def keep(self, which: Bools | slice) -> Pool:
        """The pool of some of the tokens.

        Args:
            which: bool[n], True for a token to keep; or a slice.
        """
        return Pool(self.ids[which], self.rounded_logits[which], self.grid_bits)

    @property
    def levels(self) -> Ints:
        """Deprecated: the old name of `rounded_logits`."""
        warn_deprecated("Pool.levels", "Pool.rounded_logits")
        return self.rounded_logits

    @property
    def mass(self) -> Ints:
        """Deprecated: the old name of `unnormalized_probs`."""
        warn_deprecated("Pool.mass", "Pool.unnormalized_probs")
        return self.unnormalized_probs


def to_weights(unnormalized_probs: Ints, bits: int) -> Ints:
    """Integer weights in proportion to probabilities.

    Args:
        unnormalized_probs: int64[n], 0 to 2^30 each; n is at least 1.
        bits: the weights sum to 2^bits; 8 to 32.

    Returns:
        int64[n], each at least 1, read-only: writer and reader must see the same. What rounding
        leaves over is added to the first weight.

    Raises:
        SettingsError: n is more than half of 2^bits.

    >>> to_weights(np.array([6, 2]), 8).tolist()
    [192, 64]
    """
    total, count = 1 << bits, len(unnormalized_probs)
    if 2 * count > total:
        least = (count - 1).bit_length() + 1
        raise SettingsError(
            f"a pool of {count} tokens needs weight_bits of at least {least}, found {bits}; "
            f"raise it or lower top_k"
        )
    whole = max(int(unnormalized_probs.sum()), 1)
    weights = unnormalized_probs * (total - count)
    weights //= whole
    weights += 1
    weights[0] += total - int(weights.sum())
    weights.setflags(write=False)
    return weights


@cache
def _exponentials(grid_bits: int) -> Ints:
    """The table floor(2^30 exp(-i / 2^grid_bits)) for i = 0, 1, ...: int64[n], the last one 0.

    It is computed with integers: a float exp may differ in its last bit from machine to machine.
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
    while value >> (precision - PROB_BITS):
        table.append(value >> (precision - PROB_BITS))
        value = value * ratio >> precision
    return np.array([*table, 0], dtype=np.int64)
