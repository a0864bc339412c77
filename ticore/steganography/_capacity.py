"""Whether a message can still fit: estimated before it is written, and again while it is written.

Before, only a bound is known: a choice among n candidates carries at most log2(n) bits. While the
text is written, it shows how many bits a choice really carries; 4 of 6 bits is usual. So a message
that will not fit is noticed after some hundred tokens, and not when the context is full.

A message that can fit must not be refused. So the estimate is cautious: it assumes that the rest of
the text carries as much as the best stretch so far, and more if little of the text has been seen.
"""

from __future__ import annotations

import math

from ..errors import CapacityError

STRETCH = 64
"""Tokens that are measured together: the bits of a single token vary too much."""


class NoRoomError(CapacityError):
    """The message does not fit.

    Attributes:
        fits: about how many bits fit.
        bound: whether `fits` is an upper bound and not an estimate. A text usually carries two
            thirds of this bound.
        by_chance: whether another text may hold the message: this one had room for it until the
            model began to repeat itself.
    """

    def __init__(
        self, text: str, fits: int, *, bound: bool = False, by_chance: bool = False
    ) -> None:
        super().__init__(text)
        self.fits = fits
        self.bound = bound
        self.by_chance = by_chance


class Capacity:
    """Watches one text being written.

    Args:
        length: of the message, in bits.
        room: tokens that the model can write.
        most_choices: an upper bound of a pool's size.

    Raises:
        NoRoomError: the message does not fit even if all choices of each step are equally likely.
        CapacityError: there is never a choice.
    """

    def __init__(self, length: int, room: int, most_choices: int) -> None:
        self._length = length
        self._room = room
        self._most = math.log2(most_choices)  # bits per token
        self._best = 0.0  # of any stretch so far, in bits per token
        self._last = 0.0  # bits that were carried when the last stretch ended
        if length and most_choices == 1:
            raise CapacityError(
                "expected at least two candidates, since the choice among them is what hides a "
                "message, found settings that leave one; raise top_k",
                fitting_bytes=0,
            )
        if length > (most := int(room * self._most)):
            raise NoRoomError(
                f"the message takes {length} bits, and the model's context has room for {room} "
                f"tokens of at most {most} bits together; {_ADVICE}",
                fits=most,
                bound=True,
            )

    def after(self, tokens: int, settled: int, pending: float = 0.0) -> None:
        """Take note of a token that was written.

        Args:
            tokens: how many tokens were written so far.
            settled: how many bits of the message they carry.
            pending: about how many more they can carry, of a block that is not complete.

        Raises:
            NoRoomError: the rest of the message will not fit, or the context is full.
        """
        stretches, between = divmod(tokens, STRETCH)
        left = self._room - tokens
        if left and (between or not stretches):
            return
        # A block that is not complete when the context is full carries nothing.
        carried = settled + pending if left else settled
        if not between:
            self._best = max(self._best, (carried - self._last) / STRETCH)
            self._last = carried
        missing = self._length - carried
        # Chance alone varies the bits of n tokens by some sqrt(n).
        if left and missing <= self._bound(stretches) * left + self._most * math.sqrt(left):
            return
        rate = carried / tokens
        fits = int(rate * self._room)
        raise NoRoomError(
            f"the message takes {self._length} bits; {tokens} tokens carried {int(carried)} of "
            f"them, {rate:.1f} per token, and the model's context "
            + (f"has room for {left} more tokens, " if left else "is full; ")
            + (f"which would have to carry {missing / left:.1f} each; " if left else "")
            + _ADVICE,
            fits=fits,
            by_chance=max(self._best, rate) * self._room >= self._length,
        )

    def _bound(self, stretches: int) -> float:
        """How many bits per token the rest may carry on average.

        `expected` is twice the best stretch after one stretch, and 9/8 of it after eight. The other
        term allows for a text that begins with few choices and has more later.
        """
        expected = self._best * (1 + 1 / stretches)
        return min(self._most, max(expected, self._most / math.sqrt(stretches)))


_ADVICE = "send a shorter message, use a model with a longer context, or raise temperature or top_k"
