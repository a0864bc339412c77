"""Keyed random numbers of version 1, which read what was written before there was a version 2.

A list of numbers is drawn from a seed of 32 bits, so there are 2^32 lists of each scheme whatever
the key is, and who tries all of them finds the right one: see `wide` for what replaces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..errors import KeyFormatError
from ..keys import key_bytes
from . import feistel
from .feistel import Rounds, rectangle
from .words import BITS, GOLDEN, WORD, Words, half, mixed, xor

__all__ = ["BITS", "Key", "Words", "number", "place", "rectangle"]

LEAST_KEY_BYTES = 16


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
        a, b, c, d = derived_words(key, purpose, 4)
        return cls((a, b, c, d))

    def seed(self, tokens: Sequence[Words]) -> Words:
        """A word drawn from some token ids, whose order matters.

        >>> Key((1, 2, 3, 4)).seed([5, 7]) == Key((1, 2, 3, 4)).seed([7, 5])
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

    Raises KeyFormatError where `key` is shorter than 16 bytes or longer than 64.
    """
    key = key_bytes(key)
    if not LEAST_KEY_BYTES <= len(key) <= blake2b.MAX_KEY_SIZE:
        raise KeyFormatError(
            f"expected a key of {LEAST_KEY_BYTES} to {blake2b.MAX_KEY_SIZE} bytes, found "
            f"{len(key)}; make one with: ticore keygen"
        )
    digest = blake2b(purpose.encode(), key=key, digest_size=4 * count).digest()
    return [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 4 * count, 4)]


def spread(token: Words) -> Words:
    """The token's half of its number, the same for all seeds."""
    return mixed(xor(token, GOLDEN))


def spread_number(seed: Words, word: Words) -> Words:
    """The number of a token whose half is `word`: 0 to 2^31 - 1."""
    return half(mixed(xor(word, seed)))


def number(seed: Words, token: Words) -> Words:
    """The number of a token behind a seed: 0 to 2^31 - 1."""
    return spread_number(seed, spread(token))


def place(seed: Words, token: Words, size: int) -> Words:
    """The place of a token in the order that a seed puts all `size` tokens in: 0 to `size` - 1."""
    return feistel.place(rounds(seed), token, size)


def rounds(seed: Words) -> Rounds:
    """The rounds of the network that gives each token its place."""

    def moved(turn: int, at: Words) -> Words:
        return half(mixed(xor(mixed(xor(at, (turn + 1) * GOLDEN & WORD)), seed)))

    return moved
