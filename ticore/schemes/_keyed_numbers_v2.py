"""Keyed random numbers of version 2: a list depends on more than one word of 32 bits.

A user's key gives eight words. Four of them turn each token into a secret word:

    token           ->  word      a permutation under 128 bits of key; cached for all tokens
    tokens before   ->  a, b      64 bits, into which the words of these tokens are mixed in turn
    word, a, b      ->  number    three multiplications; `a` enters before the first, `b` after it

A number takes about as long as one round of mixing. Trying all keys means trying all 128 bits,
since nothing can be computed before the words of the tokens are known. Two contexts share a list
with probability 2^-64.

The numbers hide a watermark from those without the key. They are not a cipher: there is no proof
that many of them say nothing about others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ._feistel import Rounds
from ._keyed_numbers_v1 import derived_words
from ._word_arithmetic import (
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
    """Two words, from which all numbers after a context are computed."""

    a: Words
    b: Words


@dataclass(frozen=True, repr=False)
class KeyV2:
    """Eight 32-bit words that a user's key gives for one purpose.

    Attributes:
        words: from 0 to 2^32 - 1. Four for the words of tokens, two for seeds, one that ends a
            seed, one for pairs.
    """

    words: tuple[int, ...]

    @classmethod
    def derive(cls, key: bytes | str, purpose: str) -> KeyV2:
        """The words for one purpose, by keyed BLAKE2b; other purposes have unrelated ones.

        Raises:
            CredentialError: see `scheme_key`.
        """
        return cls(tuple(derived_words(key, purpose, 8)))

    def token_word(self, token: Words) -> Words:
        """The secret word of a token id. Different tokens have different words."""
        word = token
        for key in self.words[:4]:
            word = mixed(xor(word, key))
        return word

    def seed(self, words: Sequence[Words]) -> Seed:
        """The seed after tokens with these words, in their order."""
        a: Words
        b: Words
        a, b = self.words[4:6]
        for word in words:
            a = mixed(xor(word, a))
            b = mixed(xor(a, b))
        return Seed(mixed(xor(a, self.words[6])), mixed(xor(xor(b, self.words[6]), GOLDEN)))

    def pair_seed(self, least: Words) -> Seed:
        """The seed that the least word of a window gives: see `SelfHash`."""
        return Seed(least, self.words[7])

    def least(self, seeds: Sequence[Seed], self_word: Words, word: Words) -> Words:
        """The least, in `ordered`, of `self_word` and the words that a token has after the seeds.

        Args:
            seeds: of the other tokens of the window.
            self_word: the word of the token after itself.
            word: the token's secret word.
        """
        least = ordered(self_word)
        for seed in seeds:
            least = lesser(least, ordered(keyed_word(seed, word)))
        return ordered(least)


def keyed_word(seed: Seed, word: Words) -> Words:
    """The random word of a token after a seed. Different tokens have different words.

    Args:
        seed: of the context.
        word: the token's secret word.
    """
    state = times(xor(word, seed.a), 0xED5AD4BB)
    state = xor(folded(state, 15), seed.b)
    state = times(folded(state, 16), 0x7FEB352D)
    return times(folded(state, 15), 0x846CA68B)


def keyed_uniform(seed: Seed, word: Words) -> Words:
    """The number of a token after a seed: 0 to 2^31 - 1. Arguments as of `keyed_word`."""
    return ordered_number(keyed_word(seed, word))


def rounds(seed: Seed, words: Callable[[Words], Words]) -> Rounds:
    """The rounds of the Feistel network that ranks the tokens.

    A row or column has the secret word of the token with its number. Each round has a seed of its
    own.

    Args:
        seed: of the context.
        words: `f(ids)` looks up the secret words of ids.
    """

    def moved(turn: int, at: Words) -> Words:
        own = Seed(xor(seed.a, mixed((turn + 1) * GOLDEN & WORD)), seed.b)
        return keyed_uniform(own, words(at))

    return moved
