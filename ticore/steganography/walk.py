"""The loop that both sides run: logits, pool, disambiguation, weights, the token that was chosen.

Writer and reader differ only in how they come by the next token; everything else is here, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..candidates import Candidates, Ints, Outlook, Pool, to_weights
from ..disambiguation import Choices, Session
from ..draws import Draws
from ..errors import CapacityError
from ..interfaces import Decoder, Logits


@dataclass(frozen=True)
class Step:
    """One position of a text.

    Attributes:
        outlook: the candidates before disambiguation. Valid until the text goes on.
        choices: what the codec chooses from.
        weights: int64[n], the choices' integer weights.
    """

    outlook: Outlook
    choices: Choices
    weights: Ints

    @property
    def logits(self) -> Logits:
        """Logits float[logit_width], the model's."""
        return self.outlook.logits

    @property
    def pool(self) -> Pool:
        """The candidates before disambiguation."""
        return self.outlook.pool

    @property
    def kl_filter(self) -> float:
        """What disambiguation costs: divergence in bits of what it keeps from the candidates.

        -log2 of the share of their probability that was kept; 0 where none of them was kept and a
        token from outside stands in, which no finite number describes.
        """
        return _divergence(self.pool, self.choices.kept)


class Walk:
    """A text under way: the model's state and the disambiguation's, in step with each other.

    Args:
        decoder: has read the prompt.
        candidates: of the decoder's model.
        session: of a text that begins with the same prompt.
        room: how many tokens the model can read after the prompt.

    Attributes:
        tokens: what was pushed after the prompt.
        room: as given.
        most_choices: an upper bound of a pool's size.
    """

    def __init__(
        self, decoder: Decoder, candidates: Candidates, session: Session, room: int
    ) -> None:
        self.room = room
        self.most_choices = candidates.most
        self._decoder = decoder
        self._candidates = candidates
        self._session = session
        self.tokens: list[int] = []

    @property
    def most_bits(self) -> int:
        """Bits that the whole text carries at most: no longer message is written."""
        return int(self.room * math.log2(self.most_choices))

    @property
    def full(self) -> bool:
        """The model can read no further token."""
        return len(self.tokens) >= self.room

    def step(self) -> Step:
        """What may come next. Raises CapacityError where nothing can."""
        if self.full:
            raise CapacityError(
                f"the model's context is full after {len(self.tokens)} tokens; "
                f"send a shorter message or use a model with a longer context"
            )
        outlook = self._candidates.after(self._decoder)
        choices = self._session.refine(outlook.pool, outlook.outside())
        weights = to_weights(choices.mass, self._candidates.settings.weight_bits)
        return Step(outlook, choices, weights)

    def share(self, draws: Draws) -> None:
        """From here on both sides have these random numbers in common."""
        self._session.share(draws)

    def push(self, token: int) -> None:
        """Go on with `token`."""
        self._decoder.push(token)
        self._session.push(token)
        self.tokens.append(token)

    def text(self) -> str:
        """The text so far."""
        return self._session.text()

    def may_end(self) -> bool:
        """Whether the text can be read if it ends here; it cannot inside a character."""
        return self._session.may_end()


def _divergence(before: Pool, after: Pool) -> float:
    """-log2 of the share of `before` that `after` keeps, 0 if nothing; a measure, so in floats."""
    relative = (before.levels - before.levels.max()) / (1 << before.grid_bits)
    likelihood = np.exp(relative)
    kept = likelihood[np.isin(before.ids, after.ids)].sum()
    return math.log2(likelihood.sum() / kept) if kept else 0.0
