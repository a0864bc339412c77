"""What samplers share whose texts are written side by side with one model."""

from __future__ import annotations

from typing import ClassVar, Self

from ticore.interfaces import LanguageModel

from .setting import Setting


class SideBySide:
    """The base class of such a sampler.

    Args:
        model: that writes.
        setting: of the samples.

    Attributes:
        dtype: of the model; None: that of the setting. Messages need float64: see
            `Steganographer.embed_batch`.
    """

    dtype: ClassVar[str | None] = None

    def __init__(self, model: LanguageModel, setting: Setting) -> None:
        self._model = model
        self._setting = setting

    @classmethod
    def opened(cls, setting: Setting) -> Self:
        """The sampler of a setting, whose model is opened."""
        return cls(setting.model.open(cls.dtype), setting)

    def numbers(self, first: int) -> range:
        """The numbers of the texts that are written beside number `first`."""
        return range(first, first + self._setting.batch)
