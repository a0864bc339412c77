"""BitSource against a string of digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.codecs import BitSource, pack_bits, unpack_bits, zeros
from ticore.errors import SettingsError, WrongTypeError


@given(data=st.binary(max_size=40), cut=st.integers(0, 7), takes=st.lists(st.integers(0, 70)))
def test_take_gives_the_data_and_then_the_tail(data, cut, takes):
    length = max(0, 8 * len(data) - cut)
    digits = "".join(f"{byte:08b}" for byte in data)[:length] + "0" * sum(takes)
    source, at = BitSource(data, length, zeros), 0
    for count in takes:
        assert source.take(count) == int(digits[at : at + count] or "0", 2)
        at += count


def test_take_asks_the_tail_for_the_missing_bits_alone():
    asked = []

    def ones(count):
        asked.append(count)
        return (1 << count) - 1

    source = BitSource(b"\x00", 8, ones)
    assert source.take(12) == 0b1111
    assert source.take(2) == 0b11
    assert asked == [4, 2]


@given(st.lists(st.integers(0, 1), max_size=40))
def test_unpack_undoes_pack(bits):
    for some in (bits, bytes(bits), np.array(bits, dtype=np.int8), [bool(bit) for bit in bits]):
        value = int.from_bytes(pack_bits(some)) >> -len(bits) % 8
        assert unpack_bits(value, len(bits)) == bits


@given(value=st.integers(0, 1 << 40), count=st.integers(0, 50))
def test_unpack_takes_the_lowest_bits(value, count):
    assert "".join(map(str, unpack_bits(value, count))) == f"{value:050b}"[50 - count :]


@pytest.mark.parametrize("bits", [None, 1, iter([0, 1])])
def test_what_is_no_list_of_bits_is_refused(bits):
    with pytest.raises(WrongTypeError, match="bits: expected a list"):
        pack_bits(bits)


@pytest.mark.parametrize("bits", ["01", [2], [None], [[0, 1]], np.zeros((2, 2)), b"01"])
def test_what_is_no_bit_is_refused(bits):
    with pytest.raises(SettingsError, match="bits: expected a sequence of 0 and 1"):
        pack_bits(bits)
