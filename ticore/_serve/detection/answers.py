"""What the service answers about a text."""

from __future__ import annotations

from typing import Any

from ...errors import TicoreError
from ...report._verdict import said_of_any
from ...watermarking import AnyDetection

_LONGEST = 500  # characters of an error


def answer(found: AnyDetection | TicoreError) -> dict[str, Any]:
    """The answer about one text, in types that JSON has.

    The first four fields are those of vLLM's example of a detection server, so what reads its
    answers reads these: `p_value` is corrected for all configurations, and the other numbers are of
    the best one. `detection` is `AnyDetection.to_dict()`.
    """
    if isinstance(found, TicoreError):
        return {"error": str(found)[:_LONGEST]}
    best = found.best.detection
    return {
        "score": best.strength,
        "p_value": found.p_value,
        "num_scored_tokens": best.scored,
        "is_watermarked": bool(found.found),
        "verdict": found.verdict,
        "sentence": str(said_of_any(found)),
        "configuration": found.best.name if found.found else None,
        "detection": found.to_dict(),
    }
