"""Found against expected: the ratio over many texts, with an exact interval and test.

Where a token is improbable at each of many steps, the number found is a Poisson number; where it is
less improbable, the number varies less than that. So the intervals are exact or a little too wide,
and the p-values right or a little too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv

from benchmarks._harness.number_format import decimal
from benchmarks._harness.shown_rates import number

from .tails import BOUNDS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_TAIL = 0.025
LEVEL = 0.05


def compared(texts: Sequence[JsonObject]) -> list[JsonObject]:
    """For each bound what was found, what was expected, and how they compare.

    Args:
        texts: `Tails.as_json` of each.

    Returns:
        For each of `BOUNDS`: `found`, `expected`; their `ratio` with an interval of 95 %, None
        where it would say nothing; and `p`, two-sided, of a number found that is as far from the
        one expected.
    """
    found: list[int] = np.array([text["found"] for text in texts]).sum(axis=0).tolist()
    expected: list[float] = np.array([text["expected"] for text in texts]).sum(axis=0).tolist()
    return [
        {"bound": bound, "found": seen, "expected": mean}
        | {"ratio": ratio(seen, mean), "p": p_value(seen, mean)}
        for bound, seen, mean in zip(BOUNDS, found, expected, strict=True)
    ]


def ratio(found: int, expected: float) -> JsonObject | None:
    """Found by expected, with Garwood's exact interval of a Poisson number.

    >>> ratio(0, 0.5) is None, ratio(10, 5.0)
    (True, {'value': 2.0, 'low': 0.959..., 'high': 3.678...})
    """
    if not expected or (not found and expected < 1):
        return None
    low = float(gammaincinv(found, _TAIL)) if found else 0.0
    high = float(gammaincinv(found + 1, 1 - _TAIL))
    return {"value": found / expected, "low": low / expected, "high": high / expected}


def p_value(found: int, expected: float) -> float:
    """How often a Poisson number is as far from its mean, on either side: twice the lesser tail.

    >>> round(p_value(10, 5.0), 4), p_value(0, 0.5)
    (0.0637, 1.0)
    """
    at_most = float(gammaincc(found + 1, expected)) if expected else 1.0
    at_least = float(gammainc(found, expected)) if found and expected else float(not found)
    return min(1.0, 2 * min(at_most, at_least))


def cells(comparisons: Iterable[JsonObject]) -> Iterator[str]:
    """The ratio at each bound, as the page shows it."""
    for each in comparisons:
        yield number(each["ratio"])


def expectation(comparisons: Iterable[JsonObject]) -> Iterator[str]:
    """The number expected at each bound, as the page shows it."""
    for each in comparisons:
        yield decimal(each["expected"])


HEADINGS = tuple(f"below 2^-{bound}" for bound in BOUNDS)


def verdict(comparisons: Iterable[JsonObject]) -> str:
    """How many of many comparisons differ, after Bonferroni's correction."""
    every = list(comparisons)
    level = LEVEL / max(1, len(every))
    differ = [each for each in every if each["p"] < level]
    fewer = sum(each["found"] < each["expected"] for each in differ)
    return (
        f"{len(differ)} of {len(every)} differ at {100 * LEVEL:g} % together (Bonferroni): "
        f"{fewer} have too few improbable tokens, {len(differ) - fewer} too many"
    )
