"""Bits with a checksum after them are told from all others that chance does not make alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import AlteredTextError, IncompleteMessageError
from ticore.steganography._checked_bits import MOST_CHECKSUM_BITS, CheckedBits, with_checksum

BITS = st.lists(st.integers(0, 1), max_size=40)


def fed(sought, bits, sizes=()):
    """Take bits, some at a time and the rest at once."""
    at = 0
    for size in [*sizes, len(bits)]:
        part = bits[at : at + size]
        sought.feed(int("".join(map(str, part)) or "0", 2), len(part))
        at += len(part)
    return sought


@given(BITS, st.integers(0, MOST_CHECKSUM_BITS), BITS, st.lists(st.integers(0, 9), max_size=9))
def test_bits_come_back_however_they_arrive_and_whatever_follows(bits, checksum, more, sizes):
    sent = with_checksum(bits, checksum)
    assert sent[: len(bits)] == bits
    assert len(sent) == len(bits) + checksum
    taken = fed(CheckedBits(len(bits), checksum), [*sent, *more], sizes)
    assert taken.complete
    assert taken.bits_needed == 0
    assert taken.payload() == bits


@given(BITS.filter(bool), st.integers(32, MOST_CHECKSUM_BITS), st.data())
def test_a_changed_bit_shows(bits, checksum, data):
    sent = with_checksum(bits, checksum)
    sent[data.draw(st.integers(0, len(sent) - 1))] ^= 1
    with pytest.raises(AlteredTextError, match="checksum"):
        fed(CheckedBits(len(bits), checksum), sent).payload()


def test_without_a_checksum_all_bits_are_right():
    assert fed(CheckedBits(3, 0), [0, 1, 1]).payload() == [0, 1, 1]


def test_missing_bits_are_counted():
    some = fed(CheckedBits(3, 8), [0, 1, 1, 0])
    assert not some.complete
    assert (some.least_bits, some.bits_needed) == (11, 7)
    with pytest.raises(IncompleteMessageError, match="7 bits"):
        some.payload()


def test_a_fork_goes_on_by_itself():
    bits = [1, 0, 1]
    sent = with_checksum(bits, 32)
    first = fed(CheckedBits(3, 32), sent[:5])
    second = fed(first.fork(), [1 - bit for bit in sent[5:]])
    assert fed(first, sent[5:]).payload() == bits
    with pytest.raises(AlteredTextError):
        second.payload()
