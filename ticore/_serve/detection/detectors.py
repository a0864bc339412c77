"""The configurations that the service looks for: all of a list at once, or one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..._support.caches import BoundedCache
from ...interfaces import Tokenizer
from ...registry import load_tokenizer
from ...watermarking import AnyWatermarkDetector, WatermarkDetector

_AT_HAND = 64  # detectors of one configuration


@dataclass(frozen=True)
class DetectorSettings:
    """What detectors are made of. It can be pickled, and holds keys.

    Attributes:
        tokenizer: a place, see `ticore.load_tokenizer`.
        entries: see `WatermarkDetector.any`.
        fpr, repeats: see there.
    """

    tokenizer: str
    entries: tuple[Any, ...] = field(repr=False)
    fpr: float = 1e-5
    repeats: Literal["once", "all"] = "once"

    @property
    def names(self) -> list[str]:
        """Those of the entries that have one."""
        return [
            each["name"] for each in self.entries if isinstance(each, Mapping) and "name" in each
        ]

    def open(self) -> Detectors:
        """The detectors.

        Raises:
            TicoreError: see `load_tokenizer` and `WatermarkDetector.any`.
        """
        return Detectors(self, load_tokenizer(self.tokenizer))


class Detectors:
    """A detector of all configurations, and one of each that has a name. Thread-safe.

    Args:
        settings: what is looked for.
        tokenizer: the opened one.
    """

    def __init__(self, settings: DetectorSettings, tokenizer: Tokenizer) -> None:
        self._settings = settings
        self._tokenizer = tokenizer
        self._named = BoundedCache[str, AnyWatermarkDetector](_AT_HAND)
        self.all = self._detector(settings.entries)

    def named(self, name: str | None) -> AnyWatermarkDetector:
        """The detector of one entry, or of all (None)."""
        if name is None:
            return self.all
        entries = self._settings.entries
        some = tuple(e for e in entries if isinstance(e, Mapping) and e.get("name") == name)
        return self._named.get_once(name, lambda: self._detector(some))

    def _detector(self, entries: tuple[Any, ...]) -> AnyWatermarkDetector:
        settings = self._settings
        return WatermarkDetector.any(
            self._tokenizer,
            entries,
            fpr=settings.fpr,
            repeats=settings.repeats,
            tokenizer_place=settings.tokenizer,
        )
