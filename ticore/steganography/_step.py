"""One step of a text, the same for writer and reader: what may come next, and with what weights.

The two loops over these steps are in `_embedding` (the writer's) and `_extraction` (the reader's).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..candidates import Candidates, Ints, Pool, to_weights
from ..channels import PassingText
from ..disambiguation import Choices, Session
from ..interfaces import Decoder, Logits
from ._divergence import divergence


@dataclass(frozen=True)
class Step:
    """One position of a text. Valid until the text goes on.

    Attributes:
        pool: the candidates, before those are dropped that the channel would change or that
            disambiguation drops.
        choices: what the codec chooses from.
        weights: int64[n], the integer weights of the choices.
    """

    pool: Pool
    choices: Choices
    weights: Ints
    _candidates: Candidates
    _decoder: Decoder
    _used_fallback: bool

    @property
    def logits(self) -> Logits:
        """Logits float[logit_width] of the model. They may have to be fetched from a device."""
        return self._decoder.logits()

    @property
    def kl_filter(self) -> float:
        """The cost of channel and disambiguation: the divergence of what they keep, in bits.

        -log2 of the share of the candidates' probability that was kept. It is 0 where no candidate
        was kept and a token from outside takes their place, which no finite number describes.
        """
        before, after = self.pool, self.choices.kept
        if self._used_fallback:
            after = after.keep(np.isin(after.ids, before.ids))
        return divergence(before, after) if 0 < len(after) < len(before) else 0.0

    @property
    def chance_of_end(self) -> float:
        """The probability that the model, sampled freely, would end its text here."""
        return self._candidates.chance_of_end(self.logits, self.pool)

    def token(self, index: int) -> int:
        """The token id that choice `index` writes."""
        return int(self.choices.ids[index])

    def is_stable_within(self, tolerance: float) -> bool:
        """Whether a reader whose logits differ by at most `tolerance` has the same choices."""
        return self._candidates.stable_within(
            self.logits, tolerance, with_remaining=self._used_fallback
        )


def step_after(
    decoder: Decoder, candidates: Candidates, passing: PassingText, session: Session
) -> Step:
    """What may come after the text that all of these are at.

    Args:
        decoder, candidates, passing, session: see `TextState`.

    Raises:
        CapacityError: nothing can.
    """
    pool = candidates.after(decoder)
    used_fallback = False

    def left_alone(pool: Pool) -> Pool:
        """Those tokens after which the channel leaves the text alone."""
        kept = passing.keeps(pool.ids)
        return pool if kept.all() else pool.keep(kept)

    def outside() -> Iterator[Pool]:
        nonlocal used_fallback
        used_fallback = True
        yield from map(left_alone, candidates.remaining(decoder.logits(), pool))

    kept = left_alone(pool)
    if not len(kept):
        kept = next((some.keep(slice(1)) for some in outside() if len(some)), kept)
    choices = session.refine(kept, outside())
    bits = candidates.settings.weight_bits
    if 2 * len(choices.kept) <= 1 << bits:
        # Look-ahead has paths beside the pool's tokens: where the pool fits, they must, too.
        bits = max(bits, (len(choices.mass) - 1).bit_length() + 1)
    weights = to_weights(choices.mass, bits)
    return Step(pool, choices, weights, candidates, decoder, used_fallback)
