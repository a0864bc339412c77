"""Keyed random numbers that are the same in every array library, to the bit.

All arithmetic is on 32-bit words, since torch has no unsigned ones on every device and JAX no
64-bit ones by default. A word is kept in whatever integers the caller has: Python's, NumPy's
uint32, int64 (0 to 2^32 - 1), or int32 (the same bits, read as two's complement). Nothing but
operators is used, so this runs on any array, on its own device, and inside `jax.jit`.

What is compared or counted has 31 bits, which are the same number in all of them.

The numbers hide a watermark from readers. They are no cipher: who collects enough watermarked text
may learn something about the lists.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from array_api_compat import array_namespace

from ..errors import KeyFormatError
from ..keys import key_bytes

Words = Any
"""A Python int or an array of integers, as above."""

BITS = 31
"""How many bits a number has that is compared or counted."""
LEAST_KEY_BYTES = 16

_WORD = 0xFFFFFFFF
_HALF = 0x7FFFFFFF
_GOLDEN = 0x9E3779B9  # 2^32 divided by the golden ratio: bits without a pattern
_MOST: dict[Any, int] = {}  # by dtype, the greatest integer: asked for too often to look it up
_TURNS = 6  # each coordinate of a place is moved three times


@dataclass(frozen=True)
class Key:
    """Four 32-bit words that a user's key gives for one purpose.

    Attributes:
        words: from 0 to 2^32 - 1.
    """

    words: tuple[int, int, int, int]

    @classmethod
    def derive(cls, key: bytes | str, purpose: str) -> Key:
        """The key of `purpose`, by keyed BLAKE2b; other purposes have unrelated ones.

        Raises KeyFormatError where `key` is shorter than 16 bytes or longer than 64, or no key: see
        `ticore.keys`.
        """
        key = key_bytes(key)
        if not LEAST_KEY_BYTES <= len(key) <= blake2b.MAX_KEY_SIZE:
            raise KeyFormatError(
                f"expected a key of {LEAST_KEY_BYTES} to {blake2b.MAX_KEY_SIZE} bytes, found "
                f"{len(key)}; make one with: ticore keygen"
            )
        digest = blake2b(purpose.encode(), key=key, digest_size=16).digest()
        a, b, c, d = (int.from_bytes(digest[at : at + 4], "little") for at in range(0, 16, 4))
        return cls((a, b, c, d))

    def seed(self, tokens: Sequence[Words]) -> Words:
        """A word drawn from some token ids, whose order matters.

        >>> Key((1, 2, 3, 4)).seed([5, 7]) == Key((1, 2, 3, 4)).seed([7, 5])
        False
        """
        first, second, third, last = self.words
        state: Words = first
        for token in tokens:
            state = _mix(_xor(_mix(_xor(token, second)), state))
            state = _xor(state, third)
        return _mix(_xor(state, last))


def number(seed: Words, token: Words) -> Words:
    """The number of a token behind a seed: 0 to 2^31 - 1."""
    return _half(_mix(_xor(_mix(_xor(token, _GOLDEN)), seed)))


def place(seed: Words, token: Words, size: int) -> Words:
    """The place of a token in the order that a seed puts all `size` tokens in: 0 to `size` - 1.

    A Feistel network that permutes the places of a rectangle, and the tokens are the first `size`
    of them. What it puts outside goes round again, which takes no more turns than there are places
    outside; `rectangle` sees to it that these are one or two.
    """
    rows, columns = rectangle(size)
    found = _permuted(seed, token, rows, columns)
    for _ in range(rows * columns - size):
        again = _permuted(seed, found, rows, columns)
        found = _choose(found >= size, again, found)
    return found


@lru_cache
def rectangle(size: int) -> tuple[int, int]:
    """Rows and columns, neither much more than the other, of hardly more places than `size`.

    >>> rectangle(32_000), rectangle(50_257)
    ((160, 200), (140, 359))
    """
    root = math.isqrt(size)
    rows = min(range(root, max(root // 2, 1) - 1, -1), key=lambda rows: -size % rows)
    return rows, -(-size // rows)


def _permuted(seed: Words, at: Words, rows: int, columns: int) -> Words:
    row, column = at // columns, at % columns
    for turn in range(0, _TURNS, 2):
        row = (row + _round(seed, turn, column) % rows) % rows
        column = (column + _round(seed, turn + 1, row) % columns) % columns
    return row * columns + column


def _round(seed: Words, turn: int, half: Words) -> Words:
    return _half(_mix(_xor(_mix(_xor(half, (turn + 1) * _GOLDEN & _WORD)), seed)))


def _mix(word: Words) -> Words:
    """A permutation of the words that changes about half the bits for any that is changed.

    The constants are those of Wellons' `lowbias32`, found by search.
    """
    word = word ^ _shift(word, 16)
    word = _times(word, 0x7FEB352D)
    word = word ^ _shift(word, 15)
    word = _times(word, 0x846CA68B)
    return word ^ _shift(word, 16)


def _half(word: Words) -> Words:
    return _shift(word, 1)


def _shift(word: Words, bits: int) -> Words:
    """To the right, zeros coming in: a negative int32 would bring in ones."""
    return (word >> bits) & (_WORD >> bits)


def _times(word: Words, factor: int) -> Words:
    if _is_wide(word):
        return (word * factor) & _WORD
    return word * _as_it_is_kept(word, factor)


def _xor(one: Words, other: Words) -> Words:
    if isinstance(one, int):
        one, other = other, one
    return one ^ (_as_it_is_kept(one, other) if isinstance(other, int) else other)


def _as_it_is_kept(word: Words, constant: int) -> int:
    """A constant from 0 to 2^32 - 1 as the integers of `word` have it."""
    return constant - _WORD - 1 if constant > _HALF and _most(word) == _HALF else constant


def _is_wide(word: Words) -> bool:
    """Whether products run beyond 32 bits. Those of int64 wrap, but not in the bits that count."""
    return isinstance(word, int) or _most(word) > _WORD


def _most(word: Words) -> int:
    if isinstance(word, int):
        return _WORD + 1
    if word.dtype not in _MOST:
        _MOST[word.dtype] = int(array_namespace(word).iinfo(word.dtype).max)
    return _MOST[word.dtype]


def _choose(which: Any, yes: Words, no: Words) -> Words:
    if isinstance(which, bool):
        return yes if which else no
    return array_namespace(which).where(which, yes, no)
