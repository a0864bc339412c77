"""Bits in words: the layout, and what changes single bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore._support.packed_bits import (
    bits_by_word,
    clear_bits,
    has_bit,
    pack,
    set_bit,
    set_bits,
    take_bits,
    unpack,
    word_count,
)

answers = st.lists(st.booleans(), max_size=100).map(lambda found: np.array(found, dtype=bool))


@given(answers)
def test_token_is_bit_of_its_word_the_lowest_first(found):
    words = pack(found)
    assert words.dtype == np.uint32
    assert len(words) == word_count(len(found)) == -(-len(found) // 32)
    number = sum(int(word) << 32 * n for n, word in enumerate(words))
    assert number == sum(int(bit) << token for token, bit in enumerate(found))
    assert unpack(words, len(found)).tolist() == found.tolist()
    assert [has_bit(words, token) for token in range(len(found))] == found.tolist()
    assert take_bits(words, np.arange(len(found))).tolist() == found.tolist()


@given(found=answers.filter(len), data=st.data())
def test_bits_are_set_and_cleared(found, data):
    words, spread = pack(found), np.zeros(3 * word_count(len(found)), dtype=np.uint32)
    strided = spread[::3]
    strided[:] = words
    tokens = data.draw(st.lists(st.integers(0, len(found) - 1), max_size=20))
    for row in (words, strided):
        clear_bits(row, np.array(tokens, dtype=np.int64))
        set_bits(row, np.array(tokens[::2], dtype=np.int64))
    found[tokens] = False
    found[tokens[::2]] = True
    assert words.tolist() == strided.tolist() == pack(found).tolist()
    for token in tokens:
        answer = data.draw(st.booleans())
        set_bit(words, token, answer)
        set_bit(strided, token, answer)
        found[token] = answer
    assert words.tolist() == strided.tolist() == pack(found).tolist()


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33])
def test_unpacked_bits_are_a_new_array(size):
    words = pack(np.ones(size, dtype=bool))
    unpack(words, size)[:] = False
    assert unpack(words, size).all()


@given(tokens=st.sets(st.integers(0, 200)))
def test_bits_by_word_are_the_bits_that_are_set(tokens):
    at, bits = bits_by_word(np.array(sorted(tokens), dtype=np.int64))
    expected, found = np.zeros((2, 7), dtype=np.uint32)
    set_bits(expected, np.array(sorted(tokens), dtype=np.int64))
    found[at] = bits
    assert found.tolist() == expected.tolist()
    assert at.tolist() == np.flatnonzero(expected).tolist()
