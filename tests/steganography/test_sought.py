"""What the end of a text settles is taken once, and only if a message can end so."""

import pytest

from ticore.errors import AlteredTextError, IncompleteMessageError
from ticore.steganography._checked_bits import CheckedBits
from ticore.steganography._sought import take_rest


class Ending:
    """A Reader of whose text the end settles a number."""

    def __init__(self, rest):
        self.rest = rest

    def remainder(self, count):
        return self.rest if count else 0


def test_the_end_gives_the_bits_that_are_missing():
    bits = CheckedBits(4, 0)
    bits.feed(2, 2)
    take_rest(bits, Ending(1))
    assert bits.payload() == [1, 0, 0, 1]
    take_rest(bits, Ending(3))  # there is nothing left
    assert bits.payload() == [1, 0, 0, 1]


def test_tokens_past_the_last_message_are_no_message():
    bits = CheckedBits(4, 0)
    bits.feed(2, 2)
    with pytest.raises(AlteredTextError, match="past it"):
        take_rest(bits, Ending(4))
    with pytest.raises(IncompleteMessageError):
        bits.payload()
