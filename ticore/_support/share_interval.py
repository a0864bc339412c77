"""The exact interval of a share: Clopper & Pearson 1934."""

from __future__ import annotations

import scipy


def share_interval(events: int, trials: int, confidence: float) -> tuple[float, float]:
    """Between which shares the true one is, with this confidence at least.

    Args:
        events: how often it happened, 0 to `trials`.
        trials: at least 1.
        confidence: between 0 and 1.

    >>> share_interval(0, 100, 0.95)
    (0.0, 0.0362...)
    """
    tail = (1 - confidence) / 2
    quantile = scipy.special.betaincinv
    low = float(quantile(events, trials - events + 1, tail)) if events else 0.0
    high = float(quantile(events + 1, trials - events, 1 - tail)) if events < trials else 1.0
    return low, high
