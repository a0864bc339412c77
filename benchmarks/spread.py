"""Many timings of one thing, summed up, and numbers as people read them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

Spread = dict[str, float]
"""`count`, `low`, `median`, `mean`, `p95` and `high` of some timings, in seconds."""


def timed(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[float, T]:
    """Seconds that `work` took, and what it gave."""
    started = time.perf_counter()
    result = work(*args, **kwargs)
    return time.perf_counter() - started, result


def spread(values: Sequence[float]) -> Spread:
    """The timings summed up; `values` are not empty."""
    low, median, p95, high = np.quantile(values, [0, 0.5, 0.95, 1]).tolist()
    return {
        "count": len(values),
        "low": low,
        "median": median,
        "mean": float(np.mean(values)),
        "p95": p95,
        "high": high,
    }


def duration(seconds: float) -> str:
    """Two digits or three and a unit: 0.00123 is 1.2 ms."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size or unit == "µs":
            break
    value = seconds / size
    return f"{value:,.0f} {unit}" if value >= 99.5 else f"{value:.2g} {unit}"


def ratio(value: float) -> str:
    """How many times, with two digits: 12345 is 12,000 times."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if value >= 10 else f"{rounded:g}"
