"""What a worker does: open tokenizer and scheme once, then score batch after batch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Literal

from ..errors import TicoreError
from ..registry import load_tokenizer
from ..schemes import READERS
from ..schemes.numbers import LATEST
from ..watermarking import Detection, WatermarkDetector
from .base import Problem, Text
from .results import Result


@dataclass(frozen=True)
class Task:
    """What is to be looked for; a worker gets it whole and opens what it names.

    Attributes:
        tokenizer: its place, which every worker must be able to open.
        scheme, key, config, fpr, repeats, settings: as for `ticore.WatermarkDetector`.
    """

    tokenizer: str
    scheme: str
    key: bytes | None = field(default=None, repr=False)
    config: dict[str, Any] | None = field(default=None, repr=False)
    fpr: float = 1e-5
    repeats: Literal["once", "all"] = "once"
    settings: dict[str, Any] = field(default_factory=dict)

    def open(self) -> WatermarkDetector:
        """The detector. Raises as `ticore.load_tokenizer` and `ticore.WatermarkDetector`."""
        return WatermarkDetector(
            load_tokenizer(self.tokenizer),
            self.scheme,
            key=self.key,
            config=self.config,
            fpr=self.fpr,
            repeats=self.repeats,
            **self.settings,
        )

    @property
    def version(self) -> int | None:
        """Of the scheme; None for another engine's, which have none."""
        return None if self.scheme in READERS else self.settings.get("version", LATEST)

    def shaping(self) -> dict[str, Any]:
        """All that results depend on, without what is secret."""
        public = asdict(self)
        del public["key"], public["config"]
        return public

    def secret(self) -> bytes:
        """The rest, at most 64 bytes. An engine's settings hold its key."""
        config = json.dumps(self.config, sort_keys=True, default=str)
        return blake2b(config.encode(), key=self.key or b"").digest()


def score(detector: WatermarkDetector, texts: Sequence[Text]) -> list[Result]:
    """A result for each text."""
    found = iter(detector.detect_batch([text for text in texts if isinstance(text, str)]))
    return [
        Result(error=text.error) if isinstance(text, Problem) else _result(next(found))
        for text in texts
    ]


def _result(found: Detection | TicoreError) -> Result:
    return Result(error=str(found)) if isinstance(found, TicoreError) else Result.of(found)
