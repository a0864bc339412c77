"""A model as another machine would compute it: with the same logits up to a given noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks._harness.model_proxy import ModelProxy
from ticore.interfaces import Decoder, LanguageModel, Logits, PortableModel

LogitRows = npt.NDArray[np.floating]
"""Logits float[tokens, logit_width]."""


def logits_before(model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]) -> LogitRows:
    """Logits float[len(ids), logit_width]: row i is computed before ids[i] is read."""
    decoder, logits = model.start(prompt_ids), []
    for token in ids:
        logits.append(decoder.logits())
        decoder.push(token)
    return np.array(logits)


class PerturbedModel(ModelProxy):
    """What another machine would compute of one text that `model` has read.

    It knows the logits of this text only, which makes it fast.

    Args:
        model: whose logits are perturbed.
        prompt_ids: of the text.
        logits: of what follows the prompt, as `logits_before` gives them.
        noise: each logit is changed by a number drawn uniformly from [-noise, noise].
        seed: of the noise.
    """

    def __init__(
        self,
        model: PortableModel,
        prompt_ids: Sequence[int],
        logits: LogitRows,
        noise: float,
        seed: Sequence[int],
    ) -> None:
        super().__init__(model)
        self._portable_digest = model.portable_digest()
        self._prompt_length = len(prompt_ids)
        draw = np.random.default_rng(seed)
        self._logits = logits + draw.uniform(-noise, noise, logits.shape)

    def portable_digest(self) -> str:
        return self._portable_digest

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        return _OneTextDecoder(self._logits, list(prompt_ids))

    def score(self, ids: Sequence[int]) -> Logits:
        """The logits of the text; zeros for the prompt, whose logits no reader needs."""
        known = self._logits[: max(0, len(ids) - self._prompt_length)]
        zeros = np.zeros((len(ids) - len(known), self.logit_width))
        return np.concatenate([zeros, known])


class _OneTextDecoder:
    """Gives the logits of one text, whatever is pushed.

    A reader that pushes another token has misread the text by then, so what follows is irrelevant.
    """

    def __init__(self, logits: LogitRows, prompt_ids: list[int]) -> None:
        self._logits = logits
        self._prompt_length = len(prompt_ids)
        self.ids: list[int] = prompt_ids

    def logits(self) -> Logits:
        logits: Logits = self._logits[len(self.ids) - self._prompt_length]
        return logits

    def push(self, token: int) -> None:
        self.ids.append(token)

    def rewind(self, count: int) -> None:
        del self.ids[len(self.ids) - count :]
