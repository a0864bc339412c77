"""The area under the ROC curve: how often a value of one kind is above one of another."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ticore.evaluation import Rate

Floats = npt.NDArray[np.float64]

RESAMPLINGS = 1000
_Z = NormalDist().inv_cdf(0.975)


def auroc(high: Floats, low: Floats) -> float:
    """How often a value of `high` is above one of `low`; equal values count half.

    Args:
        high, low: float64[m] and float64[n], at least one each.

    >>> auroc(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    return float(shares_below(high, low).mean())


def auroc_with_error(high: Floats, low: Floats) -> tuple[Rate, float]:
    """The area with its interval of 95 %, and its standard error.

    The error is that of DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
    more correlated receiver operating characteristic curves".

    Args:
        high, low: float64[m] and float64[n], at least two each.
    """
    above, below = shares_below(high, low), 1 - shares_below(low, high)
    area = float(above.mean())
    error = math.sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    low_end, high_end = max(0.0, area - _Z * error), min(1.0, area + _Z * error)
    return Rate(area, low_end, high_end), error


def auroc_interval(high: Floats, low: Floats) -> list[float]:
    """The 95 % bootstrap interval of the area.

    For kinds that are told apart without exception it is [1, 1], which claims too much: resampling
    knows only the values that it is given.

    Args:
        high, low: float64[m] and float64[n], at least one each.
    """
    rng = np.random.default_rng(2026)
    areas = [
        auroc(rng.choice(high, len(high)), rng.choice(low, len(low))) for _ in range(RESAMPLINGS)
    ]
    least, most = np.quantile(areas, [0.025, 0.975])
    return [float(least), float(most)]


def shares_below(values: Floats, others: Floats) -> Floats:
    """For each value the share of others below it; equal ones count half."""
    ordered = np.sort(others)
    sides = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    shares: Floats = sum(sides, np.zeros(len(values))) / (2 * len(others))
    return shares
