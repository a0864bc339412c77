"""One text of a batch: what Rollback decides, what a streamer is shown, what is kept of choices."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

import torch

from ticore.consistency import Verification
from ticore.interfaces import Decoder
from ticore.watermarking import Rollback

Kept = TypeVar("Kept")


class PerToken(Generic[Kept]):
    """One value for each token of a text; what belonged to tokens taken back is overwritten."""

    def __init__(self) -> None:
        self._values: list[Kept] = []

    def put(self, position: int, value: Kept) -> None:
        """The value of the token before which `position` tokens stand."""
        del self._values[position:]
        self._values.append(value)

    def first(self, count: int) -> list[Kept]:
        """Those of the first `count` tokens."""
        return self._values[:count]


class GeneratedText:
    """A text of a Rollback that may be stopped, and that a streamer is shown.

    Args:
        row: its number in the batch.
        decoder, verification: of the rollback.
        rollback: decides which tokens are taken back.
        streamer: gets tokens when they are settled, so that none of them is taken back.

    Attributes:
        row, verification, rollback: as given.
        scores, raw_logits: tensors float32[width], if they are wanted.
        log_probabilities: of the tokens, if they are wanted.
    """

    def __init__(
        self,
        row: int,
        decoder: Decoder,
        verification: Verification,
        rollback: Rollback,
        streamer: Any | None = None,
    ) -> None:
        self.row = row
        self.verification = verification
        self.rollback = rollback
        self.scores: PerToken[torch.Tensor] = PerToken()
        self.raw_logits: PerToken[torch.Tensor] = PerToken()
        self.log_probabilities: PerToken[float] = PerToken()
        self._decoder = decoder
        self._streamer = streamer
        self._shown = 0
        self._stopped = False
        self._end: list[int] = []  # the id that ended the text, if one did

    @property
    def ids(self) -> list[int]:
        """The tokens that are committed, and the id that ended the text, if one did."""
        return [*self.rollback.committed, *self._end]

    def __len__(self) -> int:
        """How many tokens stand before the next one, those included that are pending."""
        return self.rollback.length

    @property
    def banned(self) -> AbstractSet[int]:
        """The tokens that must not be chosen next."""
        return self.rollback.banned

    @property
    def ended(self) -> bool:
        return self._stopped or self.rollback.end is not None

    def logits(self) -> Any:
        """The network's logits float[width] of the next token."""
        return self._decoder.logits()

    def take(self, token: int) -> int:
        """Take a chosen token.

        Returns:
            How many tokens this added to `ids`: those that were committed, or the one that ended
            the text.
        """
        before = len(self.rollback.committed)
        self.rollback.take(token)
        if self.rollback.end == "end of text":
            self._end = [token]
        return len(self.ids) - before

    def stop(self) -> None:
        """End it: a stopping criterion asks for that."""
        self._stopped = True

    def show(self) -> None:
        """Show the streamer what is settled, and all of it at the end."""
        if self._streamer is None:
            return
        settled = len(self.ids) if self.ended else self.rollback.settled
        if settled > self._shown:
            self._streamer.put(torch.tensor(self.ids[self._shown : settled]))
            self._shown = settled
