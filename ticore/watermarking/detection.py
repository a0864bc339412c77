"""What a detector says about a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .stretches import Segment

Verdict = Literal["watermarked", "watermarked in part", "no watermark found"]


@dataclass(frozen=True, eq=False)
class Detection:
    """What a text says about a watermark.

    Attributes:
        verdict: at the false-positive rate that was asked for.
        p_value: the probability that a text without a watermark scores as high or higher.
        strength: the score in standard deviations above the mean without a watermark.
        scored: how many tokens count.
        green: how many of them are green; None where a scheme has no green tokens.
        tokens: how many the text has. Its first ones have no score, repeated draws do not count.
        segment: see `Segment`.
        ids: int64[tokens].
        scores: float64[tokens], nan where a token has none.
        counted: bool[tokens].
        scheme: the scheme's name, or that of its class.
        version: of the scheme; None where it has no versions, as other engines' schemes. A text
            that was written with another one shows no watermark.
    """

    verdict: Verdict
    p_value: float
    strength: float
    scored: int
    green: int | None
    tokens: int
    segment: Segment
    ids: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    counted: npt.NDArray[np.bool_]
    scheme: str = ""
    version: int | None = None

    @property
    def looked_for(self) -> str:
        """The scheme and its version, for a person: `gumbel, version 2`."""
        return self.scheme if self.version is None else f"{self.scheme}, version {self.version}"
