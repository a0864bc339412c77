"""What it costs to drop candidates, in bits."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

from ..candidates import Pool


def divergence(before: Pool, after: Pool) -> float:
    """-log2 of the share of the probability of `before` that its part `after` has, in bits.

    Neither is empty. Writer and reader need not agree on it, so floats will do.
    """
    return _log_mass(before) - _log_mass(after)


def _log_mass(pool: Pool) -> float:
    """log2 of the sum of exp(rounded logit)."""
    table, largest = _float_exponentials(pool.grid_bits), pool.rounded_logits.max()
    below = largest - pool.rounded_logits
    mass = table[np.minimum(below, len(table) - 1, out=below)].sum()
    return math.log2(mass) + float(largest) / (1 << pool.grid_bits) / math.log(2)


@cache
def _float_exponentials(grid_bits: int) -> npt.NDArray[np.float64]:
    """exp(-i / 2^grid_bits) for i = 0, 1, ...; the last one, below e^-40, stands for all others."""
    exponentials: npt.NDArray[np.float64] = np.exp(-np.arange(40 << grid_bits) / (1 << grid_bits))
    exponentials[-1] = 0
    return exponentials
