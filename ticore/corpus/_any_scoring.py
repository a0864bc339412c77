"""The work of a worker that looks for a list of configurations in each text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, NamedTuple

from .._support.checks import python_number
from ..registry import load_tokenizer
from ..schemes import GumbelPayload
from ..watermarking import (
    AnyDetection,
    AnyWatermarkDetector,
    Repeats,
    Tokenizations,
    WatermarkAgreement,
    WatermarkDetector,
)
from ..watermarking._configurations import schemes_of
from ._base import CorpusText
from ._identity import plain_setting
from ._results import Result, payload_values
from ._scoring import results_of, shown_tokenizations
from ._summary import Tally


class AnyResult(NamedTuple):
    """The columns that a scan for a list of configurations adds. A row with an error has no others.

    Attributes:
        verdict, p_value: as in `ticore.watermarking.AnyDetection`: of the text, corrected by Holm's
            method for all configurations, and for whole text and segment.
        configuration: the name of the best configuration, found or not.
        found: how many configurations were found.
        strength, scored, green, tokens, segment_begin, segment_end, segment_p_value, looked_for: of
            the best configuration, as in `Result`.
        error: why the row could not be scored.
    """

    verdict: str | None = None
    p_value: float | None = None
    configuration: str | None = None
    found: int | None = None
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
    def of(cls, found: AnyDetection) -> AnyResult:
        """The result of a row from what was found in its text."""
        best = Result.of(found.best.detection)._asdict()
        own = {"verdict": found.verdict, "p_value": found.p_value}
        return cls(**best | own, configuration=found.best.name, found=len(found.found))

    @property
    def corrected(self) -> float | None:
        """The p-value of the row, corrected for all that was tried; None with an error."""
        return self.p_value


class AnyPayloadResult(NamedTuple):
    """The columns that a scan for a list adds in which a scheme has a payload.

    Attributes:
        payload, payload_confidence: of the best configuration, as in `PayloadResult`.
        others: as in `AnyResult`.
    """

    verdict: str | None = None
    p_value: float | None = None
    configuration: str | None = None
    found: int | None = None
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
    def of(cls, found: AnyDetection) -> AnyPayloadResult:
        """The result of a row from what was found in its text."""
        payload = payload_values(found.best.detection) if found.found else {}
        return cls(**AnyResult.of(found)._asdict(), **payload)

    @property
    def corrected(self) -> float | None:
        """The p-value of the row, corrected for all that was tried; None with an error."""
        return self.p_value


@dataclass(frozen=True)
class AnyTask:
    """Which configurations to look for. It is sent to every worker, which opens them itself.

    Attributes:
        tokenizer: its place, which every worker must be able to open.
        configurations: as for `ticore.WatermarkDetector.any`: mappings of values that JSON has, and
            keys in bytes, or agreements.
        fpr, repeats: as for `ticore.WatermarkDetector.any`.
        tokenizations: as there; a row has no columns for what `places` adds.
    """

    tokenizer: str
    configurations: Sequence[Any] = field(repr=False)
    fpr: float = 1e-5
    repeats: Repeats = "once"
    tokenizations: Tokenizations = "read"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fpr", python_number(self.fpr))  # written as JSON

    def open(self) -> AnyWatermarkDetector:
        """Make the detector.

        Raises:
            TicoreError: as `ticore.load_tokenizer` and `ticore.WatermarkDetector.any`.
        """
        return WatermarkDetector.any(
            load_tokenizer(self.tokenizer),
            self.configurations,
            fpr=self.fpr,
            repeats=self.repeats,
            tokenizer_place=self.tokenizer,
            tokenizations=self.tokenizations,
        )

    @property
    def result(self) -> type[AnyResult | AnyPayloadResult]:
        """The columns that are added."""
        has_payload = GumbelPayload.name in schemes_of(self.configurations)
        return AnyPayloadResult if has_payload else AnyResult

    def score(
        self, opened: AnyWatermarkDetector, texts: Sequence[CorpusText]
    ) -> list[AnyResult | AnyPayloadResult]:
        """A result for each text, in order; one that cannot be scored has an `error`."""
        return results_of(opened.detect_batch, self.result, texts)

    def depends_on(self, opened: AnyWatermarkDetector) -> list[object]:
        """The tokenizer, the version of ticore, and what the configurations are called."""
        return [opened.tokenizer.digest(), version("ticore"), opened.versions, opened.names]

    def tally(self) -> Tally:
        """Counts the results of a scan."""
        return Tally(self.fpr)

    def public_settings(self) -> dict[str, Any]:
        """All settings that results depend on, except the configurations, which hold keys."""
        return {
            "any": 1,
            "tokenizer": self.tokenizer,
            "fpr": self.fpr,
            "repeats": self.repeats,
            **shown_tokenizations(self.tokenizations),
        }

    def secret(self) -> bytes:
        """A digest of the configurations, 64 bytes."""
        return blake2b(json.dumps(list(self.configurations), default=_plain).encode()).digest()


def _plain(value: object) -> object:
    return plain_setting(value, _shown)


def _shown(value: object) -> str:
    if isinstance(value, WatermarkAgreement):
        return value.dumps()
    return value.hex() if isinstance(value, bytes) else repr(value)
