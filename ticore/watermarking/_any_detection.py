"""What a detector of many configurations found in one text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._detection import Detection, Verdict, are_too_few, corrected
from ._stretches import Stretch


@dataclass(frozen=True, eq=False)
class FoundConfiguration:
    """One configuration, and what it finds in a text.

    Attributes:
        index: its place in the list, from 0, where an entry with lists counts as all that it stands
            for.
        name: see `WatermarkDetector.any`.
        p_value: corrected by Holm's method for the number of configurations.
        detection: what a `WatermarkDetector` of this configuration alone finds, to the last bit;
            only its verdict, stretches and `too_short` are made with corrected p-values.
    """

    index: int
    name: str
    p_value: float
    detection: Detection

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return {
            "index": self.index,
            "name": self.name,
            "p_value": self.p_value,
            "detection": self.detection.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class AnyDetection:
    """What a text says about many configurations. `str` gives the verdict.

    Attributes:
        verdict: that of the best configuration.
        p_value: of the text: the probability that text without a watermark is as good evidence for
            any of the configurations is at most this.
        found: the configurations whose watermark is found, the best one first. The probability
            that a configuration is among them whose watermark is not in the text is at most the
            false-positive rate, whatever the other configurations are.
        best: the configuration for which the text is the best evidence, found or not.
        p_values: float64[configurations], those of the whole text as it is read, not corrected;
            nan for a configuration that scores no token of the text.
        stretches: all parts that are watermarked, each with its configuration, in the order of the
            text; see `Stretch`.
        strongest_p_values: float64[configurations], not corrected: no scores of the tokens would
            have a lower one under that configuration; nan where this is not known.
    """

    verdict: Verdict
    p_value: float
    found: tuple[FoundConfiguration, ...]
    best: FoundConfiguration
    p_values: npt.NDArray[np.float64]
    stretches: tuple[Stretch, ...] = ()
    strongest_p_values: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __str__(self) -> str:
        return self.verdict

    @property
    def configurations(self) -> int:
        """How many were looked for."""
        return len(self.p_values)

    @property
    def least_p_value(self) -> float:
        """What the strongest watermark would have, corrected; nan where one is not known."""
        return corrected(float(self.strongest_p_values.min()), self.configurations)

    @property
    def too_short_for(self) -> int:
        """How many configurations could not have been found in this text, whatever its scores.

        Those that are found are first in Holm's order, so the others are corrected for fewer.
        """
        fpr, found = self.best.detection.target.fpr, {one.index for one in self.found}
        left = self.configurations - len(found)
        return sum(
            at not in found and are_too_few(each, left, fpr)
            for at, each in enumerate(self.strongest_p_values.tolist())
        )

    @property
    def too_short(self) -> bool:
        """Whether none could have been found: the verdict says nothing."""
        return self.too_short_for == self.configurations

    def to_dict(self) -> dict[str, Any]:
        """The verdict and what was found, in types that JSON has. `p_values` is left out."""
        return {
            "verdict": self.verdict,
            "p_value": self.p_value,
            "configurations": self.configurations,
            "token_count": self.best.detection.token_count,
            "tokenizer": self.best.detection.target.tokenizer,
            "fpr": self.best.detection.target.fpr,
            "too_short": self.too_short,
            "too_short_for": self.too_short_for,
            "found": [one.to_dict() for one in self.found],
            "best": self.best.to_dict(),
            "stretches": [one.to_dict() for one in self.stretches],
        }
