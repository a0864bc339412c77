"""What tokens carry before it is settled: a codec with blocks settles many bits at once."""

from __future__ import annotations

import math

from ..codecs import Weights, Writer


class PendingBits:
    """Watches the choices of one writer.

    Attributes:
        count: about how many bits the tokens since the last settled bit can carry.
        stalled: how many tokens in a row settled no bit, and carry less than one together.
    """

    def __init__(self, writer: Writer) -> None:
        self.count = 0.0
        self.stalled = 0
        self._writer = writer
        self._settled = writer.settled

    def see(self, weights: Weights, index: int) -> None:
        """Take note of a choice that the writer made."""
        before, settled_before, self._settled = self.count, self._settled, self._writer.settled
        settles = self._settled > settled_before
        # A choice of a share of 1/n can tell as much as one of n equal ones.
        self.count = 0.0 if settles else before + math.log2(weights.sum() / weights[index])
        goes_on = settles or int(self.count) > int(before)
        self.stalled = 0 if goes_on else self.stalled + 1
