"""Keyed random numbers of version 1, for texts that were written before there was a version 2.

All numbers after a context come from a seed of 32 bits. So each scheme has 2^32 lists whatever the
key is, and trying all of them finds the right one: see `_keyed_numbers_v2`, which replaces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ._feistel import Rounds
from ._key import scheme_key
from ._word_arithmetic import GOLDEN, WORD, Words, half, mixed, xor


@dataclass(frozen=True)
class KeyV1:
    """Four 32-bit words that a user's key gives for one purpose.

    Attributes:
        words: from 0 to 2^32 - 1.
    """

    words: tuple[int, int, int, int]

    @classmethod
    def derive(cls, key: bytes | str, purpose: str) -> KeyV1:
        """The words for one purpose, by keyed BLAKE2b; other purposes have unrelated ones.

        Raises:
            CredentialError: see `scheme_key`.
        """
        a, b, c, d = derived_words(key, purpose, 4)
        return cls((a, b, c, d))

    def seed(self, tokens: Sequence[Words]) -> Words:
        """One word from the token ids of a context, in their order.

        >>> KeyV1((1, 2, 3, 4)).seed([5, 7]) == KeyV1((1, 2, 3, 4)).seed([7, 5])
        False
        """
        first, second, third, last = self.words
        state: Words = first
        for token in tokens:
            state = mixed(xor(mixed(xor(token, second)), state))
            state = xor(state, third)
        return mixed(xor(state, last))


def derived_words(key: bytes | str, purpose: str, count: int) -> list[int]:
    """`count` words, 16 at most, that a user's key gives for one purpose, by keyed BLAKE2b.

    Raises:
        CredentialError: see `scheme_key`.
    """
    digest = blake2b(purpose.encode(), key=scheme_key(key), digest_size=4 * count).digest()
    return [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 4 * count, 4)]


def spread(token: Words) -> Words:
    """The part of `keyed_uniform` that depends on the token alone."""
    return mixed(xor(token, GOLDEN))


def spread_number(seed: Words, word: Words) -> Words:
    """`keyed_uniform` of the token whose `spread` is `word`."""
    return half(mixed(xor(word, seed)))


def keyed_uniform(seed: Words, token: Words) -> Words:
    """The number of a token after a seed: 0 to 2^31 - 1."""
    return spread_number(seed, spread(token))


def rounds(seed: Words) -> Rounds:
    """The rounds of the Feistel network that ranks the tokens."""

    def moved(turn: int, at: Words) -> Words:
        return half(mixed(xor(mixed(xor(at, (turn + 1) * GOLDEN & WORD)), seed)))

    return moved
