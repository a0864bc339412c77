"""Free sampling: from all of the vocabulary that is text, at temperature 1."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from ticore.evaluation._metrics import softmax
from ticore.interfaces import Decoder, LanguageModel

Floats = npt.NDArray[np.float64]


class FreeSampling:
    """The distribution of a model's next token of text.

    Args:
        model: that writes. Its special tokens are no text, so texts do not end by themselves.
    """

    def __init__(self, model: LanguageModel) -> None:
        size = model.tokenizer.vocab_size
        # Ids beyond the vocabulary only pad the logits.
        self._not_text = [*model.tokenizer.special_ids, *range(size, model.logit_width)]

    def distribution(self, decoder: Decoder) -> Floats:
        """Probabilities float64[logit_width] of the next token."""
        logits = np.array(decoder.logits(), dtype=np.float64)
        logits[self._not_text] = -np.inf
        return softmax(logits)


def choose(probs: Floats, draw: random.Random) -> int:
    """A token by its probability."""
    sums = np.cumsum(probs)
    return int(np.searchsorted(sums, draw.random() * sums[-1], side="right"))
