"""Two codecs in one text: the second begins where the first is done, on both sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.codecs.passes import random_tail
from tests.codecs.tables import endless, tables
from ticore.codecs import ArithmeticCodec, BitSource, HuffmanCodec
from ticore.errors import IncompleteMessageError
from ticore.steganography.seam import SeamedReader, SeamedWriter


def source(data, tail):
    return BitSource(data, 8 * len(data), tail)


@given(
    nonce=st.binary(min_size=1, max_size=5),
    rest=st.binary(max_size=9),
    some=st.lists(tables(), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_both_parts_come_back(nonce, rest, some, seed):
    begun, noise = [], random_tail(seed)

    def go_on():
        begun.append("writer")
        return HuffmanCodec().writer(source(rest, noise))

    def read_on(found):
        begun.append(found)
        return HuffmanCodec().reader()

    length = 8 * len(nonce)
    writer = SeamedWriter(ArithmeticCodec().writer(source(nonce, noise)), length, go_on)
    reader = SeamedReader(ArithmeticCodec().reader(), length, read_on)
    value = count = 0
    for weights in endless(some, seed):
        if writer.done:
            break
        assert bool(begun) == (count >= length)
        settled, size = reader.observe(weights, writer.choose(weights))
        value, count = value << size | settled, count + size
        # Of the bits behind the nonce that the first codec settles, nobody hears.
        assert count == (min(writer.settled, length) if len(begun) < 2 else writer.settled)
    assert begun == ["writer", nonce]
    assert value >> count - 8 * len(nonce + rest) == int.from_bytes(nonce + rest)


def test_a_text_that_was_cut():
    reader = SeamedReader(ArithmeticCodec().reader(), 8, lambda _: HuffmanCodec().reader())
    for _ in range(12):
        with pytest.raises(IncompleteMessageError, match="the text ends 3 bits before"):
            reader.remainder(3)
        reader.observe(np.array([128, 128]), 0)
