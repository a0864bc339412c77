"""How many finds chance explains: rows by p-value, against what texts without a watermark give.

Let n rows be scored, each with a p-value p that holds: p is at most t with probability t at most,
if the row has no watermark. Then at most n t rows without one are expected to have p at most t,
however the rows depend on each other. Example: of a million rows, ten have 1e-5 or less by chance.

If k rows have p at most t, n t / k estimates the share of false finds among them (Benjamini and
Hochberg 1995). It is an estimate: rows that depend on each other are false together or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


@dataclass(frozen=True)
class Band:
    """The rows with a p-value of at most a threshold.

    Attributes:
        threshold: of the p-value of a row, corrected for all that was tried in it.
        found: how many rows have it or less.
        by_chance: how many are expected if no row has a watermark, at most.
    """

    threshold: float
    found: int
    by_chance: float

    @property
    def false_share(self) -> float | None:
        """The estimated share of false finds, at most 1; None if there is no find."""
        return min(1.0, self.by_chance / self.found) if self.found else None

    def to_dict(self) -> dict[str, Any]:
        """The attributes and the share by name, in types that JSON has."""
        return asdict(self) | {"false_share": self.false_share}


class BandCounter:
    """Counts rows by their p-values.

    Args:
        fpr: the threshold of the scan, which is counted besides `THRESHOLDS`.
    """

    def __init__(self, fpr: float) -> None:
        self._found = dict.fromkeys(sorted({fpr, *THRESHOLDS}, reverse=True), 0)
        self._scored = 0

    def see(self, p_values: Iterable[float]) -> None:
        """Count the p-values of some rows."""
        most = max(self._found)
        for p_value in p_values:
            self._scored += 1
            if p_value <= most:
                for threshold in self._found:
                    self._found[threshold] += p_value <= threshold

    def bands(self) -> tuple[Band, ...]:
        """All bands, the highest threshold first."""
        return tuple(Band(t, found, self._scored * t) for t, found in self._found.items())
