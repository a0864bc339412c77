"""The configurations that the service looks for: all of a list at once, or one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._support.caches import BoundedCache
from ...interfaces import Tokenizer
from ...registry import load_tokenizer
from ...watermarking import AnyWatermarkDetector, Repeats, Tokenizations, WatermarkDetector
from ...watermarking._configurations import named_schemes

_AT_HAND = 64  # detectors of one configuration, or that look for other tokens


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
    repeats: Repeats = "once"

    def open(self) -> Detectors:
        """The detectors.

        Raises:
            TicoreError: see `load_tokenizer` and `WatermarkDetector.any`.
        """
        return Detectors(self, load_tokenizer(self.tokenizer))


class Detectors:
    """Detectors of all configurations, and of each by its name. Thread-safe.

    Args:
        settings: what is looked for.
        tokenizer: the opened one.

    Attributes:
        names: of all configurations, as answers name them, and of entries that stand for several.
    """

    def __init__(self, settings: DetectorSettings, tokenizer: Tokenizer) -> None:
        self._settings = settings
        self._tokenizer = tokenizer
        self._others = BoundedCache[tuple[str | None, Tokenizations], AnyWatermarkDetector](
            _AT_HAND
        )
        self._schemes = named_schemes(settings.entries, tokenizer, settings.repeats)
        # An entry with many keys stands for many configurations, each with a name of its own.
        self._named = dict[str, list[Any]]()
        for each in settings.entries:
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                self._named.setdefault(each["name"], []).append(each)
        for one in self._schemes:
            self._named.setdefault(one.name, [one])
        self.names = [*self._named]
        self._all = self._detector(None, "read")

    def named(
        self, name: str | None, tokenizations: Tokenizations = "read"
    ) -> AnyWatermarkDetector:
        """The detector of what has a name, or of all (None).

        Args:
            name: one of `names`.
            tokenizations: see `WatermarkDetector`.
        """
        if name is None and tokenizations == "read":
            return self._all
        key = (name, tokenizations)
        return self._others.get_once(key, lambda: self._detector(*key))

    def _detector(self, name: str | None, tokenizations: Tokenizations) -> AnyWatermarkDetector:
        settings = self._settings
        looked_for: list[Any] = [*self._schemes] if name is None else self._named[name]
        return WatermarkDetector.any(
            self._tokenizer,
            looked_for,
            fpr=settings.fpr,
            repeats=settings.repeats,
            tokenizer_place=settings.tokenizer,
            tokenizations=tokenizations,
        )
