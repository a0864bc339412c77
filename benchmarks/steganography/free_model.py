"""A model that costs nothing, so that what is measured is everything beside the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ticore.interfaces import Logits, Tokenizer

_ROWS = 37
_DEVIATION = 3.0


class FreeModel:
    """Gives one of a few rows of random logits, by the last two ids.

    Args:
        tokenizer: any.
        dtype: of the logits.
    """

    context_length = 1 << 20
    eos_ids: frozenset[int] = frozenset()

    def __init__(self, tokenizer: Tokenizer, dtype: npt.DTypeLike = np.float32) -> None:
        self.tokenizer = tokenizer
        self.logit_width = tokenizer.vocab_size
        rows = np.random.default_rng(0).normal(size=(_ROWS, self.logit_width)) * _DEVIATION
        self._rows = rows.astype(dtype)

    def start(self, prompt_ids: Sequence[int]) -> FreeDecoder:
        return FreeDecoder(self, list(prompt_ids))

    def score(self, ids: Sequence[int]) -> Logits:
        return np.stack([self.logits_after(ids[:n]) for n in range(len(ids))])

    def digest(self) -> str:
        return f"free {self.logit_width} {self._rows.dtype}"

    def logits_after(self, ids: Sequence[int]) -> Logits:
        """The logits float[logit_width] after `ids`."""
        row: Logits = self._rows[sum(ids[-2:]) % _ROWS]
        return row


class FreeDecoder:
    """Its Decoder."""

    def __init__(self, model: FreeModel, ids: list[int]) -> None:
        self._model = model
        self.ids = ids

    def logits(self) -> Logits:
        return self._model.logits_after(self.ids)

    def push(self, token: int) -> None:
        self.ids.append(token)

    def rewind(self, count: int) -> None:
        del self.ids[len(self.ids) - count :]
