"""Masks with one bit per token: token t is bit t % 32 of word t // 32, the lowest bit first.

xgrammar and llguidance lay their masks out in the same way.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_LITTLE_ENDIAN = np.dtype("<u4")
_BIT = np.left_shift(np.uint32(1), np.arange(32, dtype=np.uint32))

_FEW = 8  # for so few tokens NumPy's functions take longer


def word_count(size: int) -> int:
    """How many words the bits of `size` tokens take."""
    return -(-size // 32)


def pack(answers: npt.NDArray[np.bool_]) -> Words:
    """bool[size] as uint32[word_count(size)], a new array; the bits after the last one are 0."""
    packed = np.packbits(answers, bitorder="little")
    if missing := 4 * word_count(len(answers)) - len(packed):
        packed = np.append(packed, np.zeros(missing, dtype=np.uint8))
    return packed.view(_LITTLE_ENDIAN).astype(np.uint32, copy=False)


def unpack(words: Words, size: int) -> npt.NDArray[np.bool_]:
    """The first `size` bits as bool[size], a new array."""
    data = np.ascontiguousarray(words, dtype=_LITTLE_ENDIAN).view(np.uint8)
    return np.unpackbits(data, count=size, bitorder="little").view(np.bool_)


def has_bit(words: Words, token: int) -> bool:
    """Whether the bit of one token is set."""
    return bool(words.item(token >> 5) >> (token & 31) & 1)


def take_bits(words: Words, tokens: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """The bits of some tokens: bool[n]."""
    found: npt.NDArray[np.bool_] = (words[tokens >> 5] & _BIT[tokens & 31]) != 0
    return found


def bits_by_word(
    tokens: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.intp], Words]:
    """The words that hold the bits of some tokens, intp[n] in order, and these bits in each."""
    at, number = np.unique(tokens >> 5, return_inverse=True)
    bits = np.zeros(len(at), dtype=np.uint32)
    np.bitwise_or.at(bits, number, _BIT[tokens & 31])
    return at.astype(np.intp), bits


def set_bits(words: Words, tokens: npt.NDArray[np.integer]) -> None:
    """Set the bits of some tokens; they may repeat."""
    np.bitwise_or.at(words, tokens >> 5, _BIT[tokens & 31])


def clear_bits(words: Words, tokens: npt.NDArray[np.integer]) -> None:
    """Clear the bits of some tokens; they may repeat."""
    if len(tokens) <= _FEW:
        for token in tokens.tolist():
            set_bit(words, token, False)
    else:
        np.bitwise_and.at(words, tokens >> 5, ~_BIT[tokens & 31])


def set_bit(words: Words, token: int, answer: bool) -> None:
    """Set or clear the bit of one token."""
    at, bit = token >> 5, 1 << (token & 31)
    words[at] = words.item(at) | bit if answer else words.item(at) & ~bit
