"""A model on another machine: the same logits, but for their last digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks.wrapped import Wrapped
from ticore.interfaces import Decoder, LanguageModel, Logits, PortableModel

Rows = npt.NDArray[np.floating]


def rows_of(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> Rows:
    """Logits float[len(ids), logit_width] before each of `ids`, read one by one."""
    decoder, rows = model.start(prompt_ids), []
    for token in ids:
        rows.append(decoder.logits())
        decoder.push(token)
    return np.array(rows)


class Noisy(Wrapped):
    """What another machine would compute of one text that `model` has read.

    Args:
        model: whose logits they nearly are.
        prompt_ids: what the text begins with.
        rows: the logits of what follows, as `rows_of` gives them.
        noise: how far off each logit is at most.
        seed: of the noise.
    """

    def __init__(
        self,
        model: PortableModel,
        prompt_ids: Sequence[int],
        rows: Rows,
        noise: float,
        seed: Sequence[int],
    ) -> None:
        super().__init__(model)
        self._portable = model.portable_digest()
        self._before = len(prompt_ids)
        draw = np.random.default_rng(seed)
        self._rows = rows + draw.uniform(-noise, noise, rows.shape)

    def portable_digest(self) -> str:
        return self._portable

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _Along(self._rows, list(prompt_ids))

    def score(self, ids: Sequence[int]) -> Logits:
        """Rows of the prompt are not known, and not needed: they come as zeros."""
        known = self._rows[: max(0, len(ids) - self._before)]
        zeros = np.zeros((len(ids) - len(known), self.logit_width))
        return np.concatenate([zeros, known])


class _Along:
    """Goes along the one text there is. A reader that finds other tokens has left it already."""

    def __init__(self, rows: Rows, prompt_ids: list[int]) -> None:
        self._rows = rows
        self._before = len(prompt_ids)
        self.ids: list[int] = prompt_ids

    def logits(self) -> Logits:
        row: Logits = self._rows[len(self.ids) - self._before]
        return row

    def push(self, token: int) -> None:
        self.ids.append(token)

    def rewind(self, count: int) -> None:
        del self.ids[len(self.ids) - count :]
