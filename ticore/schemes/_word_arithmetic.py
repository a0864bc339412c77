"""Arithmetic on 32-bit words with the same results in every array library, to the bit.

torch does not have unsigned words on every device, and JAX has no 64-bit ones by default. So a word
is held in the integers that the caller has: Python's, NumPy's uint32, int64 (0 to 2^32 - 1), or
int32 (the same bits, read as two's complement). Only operators are used, so all of this runs on any
array, on its own device, and inside `jax.jit`.

Numbers that are compared or counted have 31 bits, which are the same number in all of these types.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, is_torch_array

Words = Any
"""A Python int or an array of integers, as above."""

BITS = 31
"""The bits of a number that is compared or counted."""

GOLDEN = 0x9E3779B9
"""2^32 divided by the golden ratio: a constant without a pattern of bits."""

WORD = 0xFFFFFFFF
_HALF = 0x7FFFFFFF
_HIGHEST_BIT = 0x80000000
_MOST: dict[Any, int] = {}  # the greatest integer of each dtype; `iinfo` is slow


def mixed(word: Words) -> Words:
    """A permutation of the words. A change of any bit changes about half of the bits.

    The constants are those of Wellons' `lowbias32`, which were found by search.
    """
    word = times(folded(word, 16), 0x7FEB352D)
    word = times(folded(word, 15), 0x846CA68B)
    return folded(word, 16)


# A function below may change an array in place only if a function here made it: `times` is called
# with such arrays alone.


def folded(word: Words, bits: int) -> Words:
    """A word xor its own bits, shifted to the right; a new array."""
    moved = shifted(word, bits)
    moved ^= word
    return moved


def times(word: Words, factor: int) -> Words:
    """The product with an odd constant. The array is overwritten."""
    if _is_wide(word):
        word *= factor
        word &= WORD
        return word
    word *= in_kind(word, factor)
    return word


def shifted(word: Words, bits: int) -> Words:
    """A word shifted to the right, with zeros at the left; a new array."""
    moved = word >> bits
    if _is_signed(word):  # there may be ones at the left
        moved &= WORD >> bits
    return moved


def half(word: Words) -> Words:
    """The upper 31 bits as a number."""
    return shifted(word, 1)


def xor(one: Words, other: Words) -> Words:
    """The words' exclusive or; a new array."""
    if isinstance(one, int):
        one, other = other, one
    return one ^ (in_kind(one, other) if isinstance(other, int) else other)


def ordered(word: Words) -> Words:
    """A word as an integer that sorts as two's complement does. It is its own inverse.

    Costs nothing where words are held in two's complement.
    """
    return word if _is_signed(word) else word ^ _HIGHEST_BIT


def ordered_number(word: Words) -> Words:
    """The upper 31 bits of `ordered`, as a number from 0 to 2^31 - 1."""
    if _is_signed(word):
        return (word >> 1) + (1 << 30)
    return ordered(word) >> 1


def is_below(word: Words, bound: int) -> Any:
    """Whether `ordered_number` is below `bound`, which is from 0 to 2^31 - 1."""
    if _is_signed(word):
        return word < 2 * bound - _HIGHEST_BIT
    return ordered(word) < 2 * bound


def in_kind(word: Words, constant: int) -> int:
    """A constant from 0 to 2^32 - 1 in the representation of `word`."""
    return constant - WORD - 1 if constant > _HALF and _is_signed(word) else constant


def lesser(one: Words, other: Words) -> Words:
    """The lesser integer of each two."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return array_namespace(one).minimum(one, other)


def looked_up(table: Words, index: Words) -> Words:
    """The entries of a table of one row at indices of any shape, none of which is negative."""
    flat = index.reshape(-1)
    if is_torch_array(table):  # `take` would first look for negative indices
        return table.index_select(0, flat).reshape(index.shape)
    return array_namespace(table).take(table, flat).reshape(index.shape)


def choose(which: Any, yes: Words, no: Words) -> Words:
    """`yes` where `which` is true, `no` elsewhere."""
    if isinstance(which, bool):
        return yes if which else no
    return array_namespace(which).where(which, yes, no)


def _is_wide(word: Words) -> bool:
    """Whether products have more than 32 bits. Those of int64 wrap, above the bits that count."""
    return isinstance(word, int) or _most(word) > WORD


def _is_signed(word: Words) -> bool:
    return not isinstance(word, int) and _most(word) == _HALF


def _most(word: Words) -> int:
    found = _MOST.get(word.dtype)
    if found is None:
        found = _MOST[word.dtype] = int(array_namespace(word).iinfo(word.dtype).max)
    return found
