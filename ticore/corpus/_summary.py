"""What a scan for watermarks found in all rows, and how it is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ._chance import Band, BandCounter


class ScoredRow(Protocol):
    """The result of a row, with whatever columns."""

    @property
    def verdict(self) -> str | None: ...

    @property
    def error(self) -> str | None: ...

    @property
    def corrected(self) -> float | None:
        """The p-value of the row, corrected for all that was tried in it; None with an error."""
        ...


@dataclass(frozen=True)
class Summary:
    """How many rows a scan found of each kind.

    Attributes:
        rows: all rows.
        watermarked, in_part, without: rows with this verdict.
        errors: rows without a verdict.
        first_error: why the first of them has none.
        bands: rows by p-value, and how many of them chance explains; the highest threshold first.
            One band has the scan's false-positive rate.
    """

    rows: int
    watermarked: int
    in_part: int
    without: int
    errors: int
    bands: tuple[Band, ...] = ()
    first_error: str | None = None

    @classmethod
    def of(cls, parts: Sequence[Summary]) -> Summary:
        """The sum of several scans, at least one, with the same false-positive rate."""
        bands = zip(*(part.bands for part in parts), strict=True)
        return cls(
            **{name: sum(getattr(part, name) for part in parts) for name in _COUNTS},
            bands=tuple(
                Band(same[0].threshold, sum(b.found for b in same), sum(b.by_chance for b in same))
                for same in bands
            ),
            first_error=next((part.first_error for part in parts if part.first_error), None),
        )

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        bands = [band.to_dict() for band in self.bands]
        return counts | {"first_error": self.first_error, "bands": bands}

    def kept(self) -> dict[str, Any]:
        """What `Tally.of_kept` needs, in types that JSON has."""
        return asdict(self)


_COUNTS = ("rows", "watermarked", "in_part", "without", "errors")


def first_error(before: int, errors: Iterable[str | None]) -> str | None:
    """The first error of a batch, with the row that has it; `before` rows are before the batch.

    >>> first_error(4, [None, "expected a longer text"]), first_error(0, ["line 1: expected text"])
    ('row 6: expected a longer text', 'line 1: expected text')
    """
    for number, error in enumerate(errors, before + 1):
        if error:  # what a row of the file should have been says where that is
            return error if error.startswith(("line ", "row ")) else f"row {number}: {error}"
    return None


class Tally:
    """Counts the results of a scan.

    Args:
        fpr: of the scan.
    """

    def __init__(self, fpr: float) -> None:
        self._verdicts: Counter[str | None] = Counter()
        self._first_error: str | None = None
        self._bands = BandCounter(fpr)

    def see(self, before: int, results: Sequence[ScoredRow]) -> None:
        """Count the results of a batch; `before` is the number of rows before it."""
        self._verdicts.update(result.verdict for result in results)
        if self._first_error is None:
            self._first_error = first_error(before, (result.error for result in results))
        p_values = (result.corrected for result in results)
        self._bands.see(p_value for p_value in p_values if p_value is not None)

    def summary(self) -> Summary:
        """What was found in all batches so far."""
        return Summary(
            rows=self._verdicts.total(),
            watermarked=self._verdicts["watermarked"],
            in_part=self._verdicts["watermarked in part"],
            without=self._verdicts["no watermark found"],
            errors=self._verdicts[None],
            bands=self._bands.bands(),
            first_error=self._first_error,
        )

    def of_kept(self, kept: Mapping[str, Any]) -> Summary:
        """A summary as it was before `kept` and JSON."""
        return Summary(**{**kept, "bands": tuple(Band(**band) for band in kept["bands"])})
