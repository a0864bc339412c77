"""A task of workers: open tokenizer and scheme once, then score batch after batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

from .._support.checks import python_number
from ..errors import SettingsError, TicoreError
from ..registry import load_tokenizer
from ..schemes import (
    EXTERNAL_SCHEMES,
    Detectable,
    GumbelPayload,
    external_scheme,
)
from ..schemes._key import scheme_key
from ..watermarking import DetectionTarget, Repeats, Tokenizations, WatermarkDetector
from ._base import CorpusText, Problem, Rollout
from ._identity import plain_setting
from ._results import PayloadResult, Result
from ._summary import Tally


@dataclass(frozen=True)
class Task:
    """What to look for. It is sent to every worker, which opens tokenizer and scheme itself.

    Attributes:
        tokenizer: its place, which every worker must be able to open.
        scheme: the name of a scheme, of ticore or of another engine.
        key: the key of a scheme of ticore, bytes or hex digits; None for another engine.
        config: the settings of another engine, which include its key; None for a scheme of ticore.
        fpr, repeats: as for `ticore.WatermarkDetector`.
        settings: more settings of a scheme of ticore, such as `gamma`.
        tokenizations: as for `ticore.WatermarkDetector`; a row has no columns for what `places`
            adds.

    Raises:
        CredentialError: the key is malformed.
    """

    tokenizer: str
    scheme: str
    key: bytes | str | None = field(default=None, repr=False)
    config: dict[str, Any] | None = field(default=None, repr=False)
    fpr: float = 1e-5
    repeats: Repeats = "once"
    settings: dict[str, Any] = field(default_factory=dict)
    tokenizations: Tokenizations = "read"

    def __post_init__(self) -> None:
        # Results are written as JSON, and must be the same for equal settings.
        object.__setattr__(self, "fpr", python_number(self.fpr))
        if self.key is not None:
            object.__setattr__(self, "key", scheme_key(self.key))
        plain = {name: python_number(value) for name, value in self.settings.items()}
        object.__setattr__(self, "settings", plain)

    def open(self) -> WatermarkDetector:
        """Make the detector.

        Raises:
            SettingsError: there is a config for a scheme of ticore.
            TicoreError: as `ticore.load_tokenizer` and `ticore.WatermarkDetector`.
        """
        if self.config is not None and self.scheme not in EXTERNAL_SCHEMES:
            raise SettingsError(
                f"config: expected none for {self.scheme}, which is a scheme of ticore, found one; "
                f"give key and settings"
            )
        tokenizer = load_tokenizer(self.tokenizer)
        scheme: str | Detectable = self.scheme
        if self.scheme in EXTERNAL_SCHEMES:
            scheme = external_scheme(self.scheme, self.config, tokenizer.vocab_size)
        return WatermarkDetector(
            tokenizer,
            scheme,
            key=self.key,
            fpr=self.fpr,
            repeats=self.repeats,
            tokenizer_place=self.tokenizer,
            tokenizations=self.tokenizations,
            **self.settings,
        )

    @property
    def result(self) -> type[Result | PayloadResult]:
        """The columns that are added."""
        return PayloadResult if self.scheme == GumbelPayload.name else Result

    @property
    def version(self) -> int | None:
        """The version of the scheme; None for one without, such as an external scheme."""
        return self.target.version

    @cached_property
    def target(self) -> DetectionTarget:
        """What is looked for, as it is shown beside the results. Raises as `open`."""
        return self.open().target

    def score(
        self, opened: WatermarkDetector, texts: Sequence[CorpusText]
    ) -> list[Result | PayloadResult]:
        """A result for each text, in order; one that cannot be scored has an `error`."""
        return results_of(opened.detect_batch, self.result, texts)

    def depends_on(self, opened: WatermarkDetector) -> list[object]:
        """The tokenizer, and the versions.

        Another version of a scheme gives other results, even if the version is the default one.
        """
        return [opened.tokenizer.digest(), version("ticore"), opened.version]

    def tally(self) -> Tally:
        """Counts the results of a scan."""
        return Tally(self.fpr)

    def public_settings(self) -> dict[str, Any]:
        """All settings that results depend on, except the secret ones."""
        public = asdict(self)
        del public["key"], public["config"], public["tokenizations"]
        return public | shown_tokenizations(self.tokenizations)

    def secret(self) -> bytes:
        """A digest of the secret settings, 64 bytes. An external `config` holds its key."""
        config = json.dumps(self.config, sort_keys=True, default=plain_setting)
        key = b"" if self.key is None else scheme_key(self.key)
        return blake2b(config.encode(), key=key).digest()


def shown_tokenizations(tokenizations: Tokenizations) -> dict[str, Any]:
    """The setting by name where it is not the default, as scans are saved that do not know it."""
    return {} if tokenizations == "read" else {"tokenizations": tokenizations}


def results_of(
    detect_batch: Callable[[Sequence[str]], Sequence[Any]],
    result: type[Any],
    texts: Sequence[CorpusText],
) -> list[Any]:
    """A result for each text, in order; a text that cannot be scored has one with an `error`.

    Args:
        detect_batch: of a detector.
        result: the NamedTuple of a row's results; `result.of` makes one of a detection.
        texts: of a batch.
    """
    found = iter(detect_batch([text for text in texts if isinstance(text, str)]))
    return [
        _result(result, next(found)) if isinstance(text, str) else result(error=_why(text))
        for text in texts
    ]


def _why(text: Rollout | Problem) -> str:
    return text.error if isinstance(text, Problem) else "expected text, found token ids"


def _result(result: type[Any], found: Any) -> Any:
    return result(error=str(found)) if isinstance(found, TicoreError) else result.of(found)
