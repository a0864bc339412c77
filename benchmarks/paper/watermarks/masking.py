"""Masking: stepwise verification of a text that is sampled.

A token that would make the text inconsistent gets the logit -inf. The text has the distribution of
rollback with q = 0: both sample among the consistent tokens in proportion to their probabilities,
rollback by rejecting the others one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ticore.consistency import Verifier
from ticore.watermarking import Sampler
from ticore.watermarking._samplers import of_text


class Masking:
    """A sampler of one text, to be given to a Generator that takes nothing back.

    Where every token would make the text inconsistent, `sampler` chooses among all of them, and the
    text stays inconsistent.

    Args:
        sampler: chooses among the tokens that are left. It never ends the text.
        verifier: of the model's tokenizer.
    """

    def __init__(self, sampler: Sampler, verifier: Verifier) -> None:
        self._sampler = sampler
        self._verifier = verifier

    def of_text(self, begin: int) -> Sampler:
        """The sampler of a text whose prompt has `begin` ids."""
        sampler, verification, read = of_text(self._sampler, begin), self._verifier.start(), begin

        def sample(ids: Sequence[int], logits: Any) -> int:
            nonlocal read
            for token in ids[read:]:
                verification.push(token)
            read = len(ids)
            if not verification.consistent:
                return sampler(ids, logits)
            admitted = np.zeros(logits.shape[-1], dtype=bool)
            mask = verification.mask()
            admitted[: len(mask)] = mask
            xp = array_namespace(logits)
            masked = xp.where(xp.asarray(admitted, device=device(logits)), logits, -xp.inf)
            return sampler(ids, masked if bool(xp.any(masked > -xp.inf)) else logits)

        return sample

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        raise TypeError("expected a call of of_text(begin) first, which gives the text's sampler")
