"""Keyed random numbers of version 2: no word of 32 bits decides about a list.

A user's key gives eight words. Four of them turn each token into a secret word, once for all:

    token  ->  word         a permutation under 128 bits of key; kept in a table
    tokens before  ->  a, b    64 bits, in which the words of these tokens are mixed one by one
    word, a, b  ->  number     three multiplications; `a` comes in before the first, `b` after it

So a number costs about as much as one round of mixing, and to try all keys means to try all 128
bits: nothing can be computed before the words of the tokens are known. Two contexts share a list
with probability 2^-64.

The numbers hide a watermark from readers. They are no cipher: no proof says that enough of them
tell nothing about others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import feistel
from .feistel import Rounds
from .keyed import derived_words
from .words import (
    GOLDEN,
    WORD,
    Words,
    folded,
    lesser,
    mixed,
    ordered,
    ordered_number,
    times,
    xor,
)


class Seed(NamedTuple):
    """What a list of numbers is drawn from: two words."""

    a: Words
    b: Words


@dataclass(frozen=True, repr=False)
class WideKey:
    """Eight 32-bit words that a user's key gives for one purpose.

    Attributes:
        words: from 0 to 2^32 - 1. Four for the words of tokens, two for seeds, one that ends a
            seed, one for pairs.
    """

    words: tuple[int, ...]

    @classmethod
    def derive(cls, key: bytes | str, purpose: str) -> WideKey:
        """The key of `purpose`, by keyed BLAKE2b; other purposes have unrelated ones.

        Raises KeyFormatError where `key` is shorter than 16 bytes or longer than 64.
        """
        return cls(tuple(derived_words(key, purpose, 8)))

    def token_word(self, token: Words) -> Words:
        """The secret word of a token id. Other tokens have other words."""
        word = token
        for key in self.words[:4]:
            word = mixed(xor(word, key))
        return word

    def seed(self, words: Sequence[Words]) -> Seed:
        """A seed drawn from the words of some tokens, whose order matters."""
        a: Words
        b: Words
        a, b = self.words[4:6]
        for word in words:
            a = mixed(xor(word, a))
            b = mixed(xor(a, b))
        return Seed(mixed(xor(a, self.words[6])), mixed(xor(xor(b, self.words[6]), GOLDEN)))

    def pair_seed(self, least: Words) -> Seed:
        """A seed drawn from the least word of a window: see `SelfHash`."""
        return Seed(least, self.words[7])

    def least(self, seeds: Sequence[Seed], own: Words, word: Words) -> Words:
        """Of the words that a token has after some seeds, and `own`, the least in `ordered`."""
        least = ordered(own)
        for seed in seeds:
            least = lesser(least, ordered(drawn(seed, word)))
        return ordered(least)


def drawn(seed: Seed, word: Words) -> Words:
    """The random word of a token after a seed; other tokens have others.

    Args:
        word: the token's secret word.
    """
    state = times(xor(word, seed.a), 0xED5AD4BB)
    state = xor(folded(state, 15), seed.b)
    state = times(folded(state, 16), 0x7FEB352D)
    return times(folded(state, 15), 0x846CA68B)


def number(seed: Seed, word: Words) -> Words:
    """The number of a token after a seed: 0 to 2^31 - 1."""
    return ordered_number(drawn(seed, word))


def place(seed: Seed, token: Words, words: Callable[[Words], Words], size: int) -> Words:
    """The place of a token in the order that a seed puts all `size` tokens in: 0 to `size` - 1.

    Args:
        token: its id, or many.
        words: how to look up the secret words of ids: `f(ids)`.
    """
    return feistel.place(rounds(seed, words), token, size)


def rounds(seed: Seed, words: Callable[[Words], Words]) -> Rounds:
    """The rounds of the network that gives each token its place; arguments as for `place`.

    A row or column has the secret word of the token with its number, and each turn a seed of its
    own.
    """

    def moved(turn: int, at: Words) -> Words:
        own = Seed(xor(seed.a, mixed((turn + 1) * GOLDEN & WORD)), seed.b)
        return number(own, words(at))

    return moved
