"""Writes watermarked texts that keep their watermark on the way through text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ..consistency import View
from ..interfaces import LanguageModel
from ..schemes import Scheme, scheme_named
from .generating import Generated, Generator, Writing
from .sampling import Warp, marked


class Watermarker:
    """Writes texts with one model, one scheme and one key.

    Args:
        model: any model.
        scheme: its name, or a scheme.
        key: the secret that a detector needs too; needed with a name. See `ticore.new_key`.
        observation, view, end_of_text: see `ticore.watermarking.Generator`.
        temperature, top_k, top_p: see `ticore.watermarking.Warp`; before the scheme's own bias.
        seed: of the random numbers that are not the scheme's; None: another text each time.
        settings: of the scheme, such as gamma.

    Raises:
        SettingsError: a setting is out of range or unknown.
        KeyFormatError: there is no key, or it is too short or too long.

    >>> import ticore
    >>> model = ticore.load_model("tiny-en")
    >>> mark = Watermarker(model, "gumbel", key=bytes(32), seed=1)
    >>> text = mark.generate("The weather in spring", tokens=60).text
    >>> ticore.WatermarkDetector(model.tokenizer, "gumbel", key=bytes(32)).detect(text).verdict
    'watermarked'
    """

    def __init__(
        self,
        model: LanguageModel,
        scheme: str | Scheme = "left_hash",
        *,
        key: bytes | None = None,
        observation: int | None = 2,
        view: View = "continuation",
        end_of_text: bool = True,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        self.scheme = scheme_named(scheme, key, model.tokenizer.vocab_size, **settings)
        warp = Warp(temperature, top_k, top_p)
        self._generator = Generator(
            model,
            marked(self.scheme, random.Random(seed), warp),
            observation=observation,
            view=view,
            end_of_text=end_of_text,
        )

    def generate(self, prompt: str | Sequence[int], tokens: int = 200) -> Generated:
        """A watermarked text of at most `tokens` tokens. Raises as `Generator.generate`."""
        return self._generator.generate(prompt, tokens)

    def stream(self, prompt: str | Sequence[int], tokens: int = 200) -> Writing:
        """The same piece by piece, as it is written: see `Writing`. Raises as `generate`."""
        return self._generator.start(prompt, tokens)
