"""Two codecs in one text: the second one knows what the first one wrote.

A codec that draws random numbers needs a key that serves this text alone, and a key that is used
for many messages becomes such a one only with a nonce. The frame begins with one, which looks
random anyway. It goes ahead by a codec that draws nothing, and nothing is sent for its sake.
"""

from __future__ import annotations

from collections.abc import Callable

from ..codecs import Reader, Weights, Writer


class SeamedWriter:
    """A Writer that goes on with another one where the first is done.

    Args:
        first: writes the first `length` bits.
        length: a whole number of bytes.
        rest: makes the second, as soon as the first is done.
    """

    def __init__(self, first: Writer, length: int, rest: Callable[[], Writer]) -> None:
        self._first = first
        self._length = length
        self._make_rest = rest
        self._rest: Writer | None = None

    @property
    def done(self) -> bool:
        return self._rest is not None and self._rest.done

    @property
    def settled(self) -> int:
        if self._rest is None:
            return self._first.settled
        return self._length + self._rest.settled

    def choose(self, weights: Weights) -> int:
        if self._rest is not None:
            return self._rest.choose(weights)
        index = self._first.choose(weights)
        if self._first.done:
            self._rest = self._make_rest()
        return index


class SeamedReader:
    """Its mirror image.

    Args:
        first: reads the first `length` bits; what it settles behind them is of no use.
        length: a whole number of bytes.
        rest: makes the second from these bits, as soon as they are there.
    """

    def __init__(self, first: Reader, length: int, rest: Callable[[bytes], Reader]) -> None:
        self._first = first
        self._length = length
        self._make_rest = rest
        self._value, self._count = 0, 0
        self._rest: Reader | None = None

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        if self._rest is not None:
            return self._rest.observe(weights, index)
        value, count = self._first.observe(weights, index)
        beyond = max(0, self._count + count - self._length)
        value, count = value >> beyond, count - beyond
        self._value, self._count = self._value << count | value, self._count + count
        if self._count == self._length:
            self._rest = self._make_rest(self._value.to_bytes(self._length // 8, "big"))
        return value, count

    def remainder(self, count: int) -> int:
        return (self._first if self._rest is None else self._rest).remainder(count)
