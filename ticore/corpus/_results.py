"""The result of a row: the columns that a scan adds to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..watermarking import Detection
from ..watermarking._detection import of_both_tests


class Result(NamedTuple):
    """The added columns, in their order. A row with an error has no other values.

    Attributes:
        verdict, p_value, strength, scored, green: as in `ticore.watermarking.Detection`.
        tokens: how many tokens the text has, `token_count` there.
        segment_begin, segment_end, segment_p_value: of its best segment.
        looked_for: the scheme and its version.
        error: why the row could not be scored.
    """

    verdict: str | None = None
    p_value: float | None = None
    strength: float | None = None
    scored: int | None = None
    green: int | None = None
    tokens: int | None = None
    segment_begin: int | None = None
    segment_end: int | None = None
    segment_p_value: float | None = None
    looked_for: str | None = None
    error: str | None = None

    @classmethod
    def of(cls, found: Detection) -> Result:
        """The result of a row from the detection in its text."""
        segment = found.segment
        return cls(
            found.verdict,
            found.p_value,
            found.strength,
            found.scored,
            found.green,
            found.token_count,
            segment.begin,
            segment.end,
            segment.p_value,
            found.looked_for,
        )

    @property
    def corrected(self) -> float | None:
        """The p-value of whole text and segment together; None with an error."""
        return _of_both(self.p_value, self.segment_p_value)


class PayloadResult(NamedTuple):
    """The added columns of a scheme with a payload.

    Attributes:
        payload: what is read from the text, in hex digits; None without a watermark, since any
            text gives some bytes.
        payload_confidence: the probability that all of it is right, see `FoundPayload`.
        others: as in `Result`.
    """

    verdict: str | None = None
    p_value: float | None = None
    strength: float | None = None
    scored: int | None = None
    green: int | None = None
    tokens: int | None = None
    segment_begin: int | None = None
    segment_end: int | None = None
    segment_p_value: float | None = None
    looked_for: str | None = None
    payload: str | None = None
    payload_confidence: float | None = None
    error: str | None = None

    @classmethod
    def of(cls, found: Detection) -> PayloadResult:
        """The result of a row from the detection in its text."""
        is_marked = found.verdict != "no watermark found"
        return cls(**Result.of(found)._asdict(), **(payload_values(found) if is_marked else {}))

    @property
    def corrected(self) -> float | None:
        """The p-value of whole text and segment together; None with an error."""
        return _of_both(self.p_value, self.segment_p_value)


def payload_values(found: Detection) -> dict[str, Any]:
    """The columns of the payload in a text with a watermark; none if its scheme has no payload."""
    if found.payload is None:
        return {}
    return {
        "payload": found.payload.payload.hex(),
        "payload_confidence": found.payload.confidence,
    }


def _of_both(p_value: float | None, segment_p_value: float | None) -> float | None:
    if p_value is None or segment_p_value is None:
        return None
    return of_both_tests(p_value, segment_p_value)


COLUMNS = Result._fields
