"""A bound of attempts for each text by itself.

A Generator with `rollback="exact"` raises an error after `max_attempts`, which ends all texts that
are written side by side. Here the sampler counts: after its last attempt it ends the text at once,
so that this text is empty, and the others go on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ticore.watermarking import Sampler, excluding
from ticore.watermarking._samplers import of_text


class GivingUp:
    """A sampler of one text that never ends it, until it gives up and leaves it empty.

    Args:
        sampler: chooses tokens.
        eos_ids: tokens that end a text; at least one.
        attempts: how often the text may be begun.
    """

    def __init__(self, sampler: Sampler, eos_ids: Collection[int], attempts: int) -> None:
        self._sampler = excluding(sampler, sorted(eos_ids))
        self._end = min(eos_ids)
        self._attempts = attempts

    def of_text(self, begin: int) -> Sampler:
        """The sampler of a text whose prompt has `begin` ids."""
        sampler, begun = of_text(self._sampler, begin), 0

        def sample(ids: Sequence[int], logits: Any) -> int:
            nonlocal begun
            begun += len(ids) == begin
            return self._end if begun > self._attempts else sampler(ids, logits)

        return sample

    def __call__(self, ids: Sequence[int], logits: Any) -> int:
        raise TypeError("expected a call of of_text(begin) first, which gives the text's sampler")
