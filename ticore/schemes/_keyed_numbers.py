"""The random numbers of a scheme under one key, in either version, as schemes use them.

Version 2 (`_keyed_numbers_v2`) is the default; version 1 (`_keyed_numbers_v1`) is for texts that
were written before. What does not depend on a token's context is cached for the whole vocabulary.

A *seed* comes from the tokens before a token. From a seed and a token come:

- `uniform`: a number from 0 to 2^31 - 1, independent for each pair of seed and token;
- a *rank*: the token's place in a random order of all tokens, which the seed decides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError, shown
from . import _feistel as feistel
from . import _keyed_numbers_v1 as keyed_numbers_v1
from . import _keyed_numbers_v2 as keyed_numbers_v2
from ._array_cache import ArrayCache
from ._base import Array
from ._feistel import Rounds
from ._keyed_numbers_v1 import KeyV1
from ._keyed_numbers_v2 import KeyV2, Seed
from ._word_arithmetic import Words, is_below, lesser, looked_up

Version = Literal[1, 2]
LATEST: Version = 2
_NUMPY = np.empty(0)  # for arrays that are wanted in NumPy


@dataclass(frozen=True)
class PreparedTokens:
    """Tokens, and what is computed from them for all contexts: ints, or arrays of one shape.

    Attributes:
        ids: token ids.
        words: one word for each token, from which its numbers are computed.
        self_words: for `SelfHash`, the word of each token after itself as the context; None where
            it was not asked for.
        lone_seeds: the seed of each token as the whole context; None where it was not asked for,
            or where looking it up is no faster than computing it.
    """

    ids: Words
    words: Words
    self_words: Words = None
    lone_seeds: Seed | None = None

    def __getitem__(self, where: Any) -> PreparedTokens:
        own = None if self.self_words is None else self.self_words[where]
        seeds = self.lone_seeds
        return PreparedTokens(
            self.ids[where],
            self.words[where],
            own,
            None if seeds is None else Seed(seeds.a[where], seeds.b[where]),
        )

    def contexts_and_tokens(self, width: int) -> tuple[list[PreparedTokens], PreparedTokens]:
        """The contexts in a text, of `width` tokens each, and the token after each of them.

        Returns:
            `width` arrays: the first tokens of all contexts, the second ones, and so on; and the
            tokens after the contexts, as many as each array has.
        """
        count = max(0, len(self.ids) - width)
        return [self[at : at + count] for at in range(width)], self[width:]


class KeyedNumbers(ABC):
    """Random numbers of pairs of a context and a token. Thread-safe.

    Args:
        size: of the vocabulary.
    """

    version: Version

    def __init__(self, size: int) -> None:
        self._size = size
        self._arrays = ArrayCache()

    def any_tokens(self, ids: Words) -> PreparedTokens:
        """Any ids: those of a prompt may lie beyond the vocabulary."""
        return PreparedTokens(ids, self._words(ids))

    def known_tokens(
        self,
        ids: npt.NDArray[np.uint32],
        *,
        self_words: bool = False,
        lone_seeds: bool = False,
    ) -> PreparedTokens:
        """Ids below the vocabulary's size, prepared by looking them up.

        Args:
            ids: uint32[n].
            self_words, lone_seeds: whether these are wanted.
        """

        def found(name: str) -> npt.NDArray[np.uint32]:
            array: npt.NDArray[np.uint32] = self._array(name, self._size, _NUMPY)
            return array[ids]

        seeds = Seed(found("a"), found("b")) if lone_seeds and self.version > 1 else None
        own = found("self_words") if self_words else None
        return PreparedTokens(ids, found("words"), own, seeds)

    def all_tokens(self, size: int, like: Array, *, self_words: bool = False) -> PreparedTokens:
        """The first `size` tokens of the vocabulary, in the library of `like`; cached there."""
        own = self._array("self_words", size, like) if self_words else None
        return PreparedTokens(self._array("ids", size, like), self._array("words", size, like), own)

    @abstractmethod
    def seed(self, before: Sequence[PreparedTokens]) -> Any:
        """The seed after a context."""

    @abstractmethod
    def least_seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        """The seed of each token for `SelfHash`. The tokens have `self_words`."""

    @abstractmethod
    def uniform(self, seed: Any, tokens: PreparedTokens) -> Words:
        """A number from 0 to 2^31 - 1 for each token."""

    @abstractmethod
    def is_below(self, seed: Any, tokens: PreparedTokens, bound: int) -> Any:
        """Whether `uniform` is below a bound."""

    @abstractmethod
    def identity(self, seed: Any) -> Any:
        """An int64 per seed, different for different seeds. Seeds are Python's or NumPy's ints."""

    def is_ranked_below(self, seed: Any, tokens: PreparedTokens, bound: int) -> Any:
        """Whether the rank of a token, in the order that a seed decides, is below a bound."""
        rounds = self._rounds(seed, self._looked_up)
        return feistel.permuted_rank(rounds, tokens.ids, self._size) < bound

    def are_ranked_below(self, seed: Any, size: int, like: Array, bound: int) -> Array:
        """`is_ranked_below` of the first `size` tokens: bool[..., size], for seeds int[..., 1].

        A seed of Python's ints gives bool[size].
        """
        return self.ranks(seed, size, like) < bound

    def ranks(self, seed: Any, size: int, like: Array) -> Array:
        """The ranks of the first `size` tokens: int[..., size], for seeds int[..., 1]."""
        halves = self.all_tokens(max(feistel.rectangle(self._size)), like)
        rounds = self._rounds(seed, lambda at: halves.words[: len(at)])
        ranks = feistel.all_ranks(rounds, halves.ids, self._size)
        return ranks[..., :size]

    @abstractmethod
    def _words(self, ids: Words) -> Words: ...

    @abstractmethod
    def _self_words(self, tokens: PreparedTokens) -> Words: ...

    @abstractmethod
    def _rounds(self, seed: Any, words: Callable[[Words], Words]) -> Rounds: ...

    def _array(self, name: str, size: int, like: Array) -> Array:
        return self._arrays.get(name, size, like, lambda: self._computed(name))

    def _computed(self, name: str) -> npt.NDArray[np.uint32]:
        if name == "ids":
            return np.arange(self._size, dtype=np.uint32)
        found: npt.NDArray[np.uint32]
        if name == "words":
            found = self._words(self._array("ids", self._size, _NUMPY))
        elif name == "self_words":
            found = self._self_words(self.all_tokens(self._size, _NUMPY))
        else:  # "a" or "b" of the seeds after each token
            found = getattr(self.seed([self.all_tokens(self._size, _NUMPY)]), name)
        return found

    def _looked_up(self, ids: Words) -> Words:
        """The words of arrays of ids below the vocabulary's size."""
        return looked_up(self._array("words", self._size, ids), ids)


class KeyedNumbersV1(KeyedNumbers):
    """Version 1: see `_keyed_numbers_v1`. A seed is one word."""

    version: Version = 1

    def __init__(self, key: bytes | str, scheme: str, size: int) -> None:
        super().__init__(size)
        self._key = KeyV1.derive(key, f"ticore watermark {scheme}")

    def seed(self, before: Sequence[PreparedTokens]) -> Words:
        return self._key.seed([tokens.ids for tokens in before])

    def least_seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Words:
        least = keyed_numbers_v1.spread_number(tokens.self_words, tokens.words)
        for each in before:
            least = lesser(least, keyed_numbers_v1.spread_number(tokens.self_words, each.words))
        return least

    def uniform(self, seed: Words, tokens: PreparedTokens) -> Words:
        return keyed_numbers_v1.spread_number(seed, tokens.words)

    def is_below(self, seed: Words, tokens: PreparedTokens, bound: int) -> Any:
        return self.uniform(seed, tokens) < bound

    def identity(self, seed: Words) -> Any:
        return np.asarray(seed).astype(np.int64)

    def _words(self, ids: Words) -> Words:
        return keyed_numbers_v1.spread(ids)

    def _self_words(self, tokens: PreparedTokens) -> Words:
        return self._key.seed([tokens.ids])

    def _rounds(self, seed: Words, words: Callable[[Words], Words]) -> Rounds:
        return keyed_numbers_v1.rounds(seed)


class KeyedNumbersV2(KeyedNumbers):
    """Version 2: see `_keyed_numbers_v2`."""

    version: Version = 2

    def __init__(self, key: bytes | str, scheme: str, size: int) -> None:
        super().__init__(size)
        self._key = KeyV2.derive(key, f"ticore watermark {scheme}, version 2")

    def seed(self, before: Sequence[PreparedTokens]) -> Seed:
        if len(before) == 1 and before[0].lone_seeds is not None:
            return before[0].lone_seeds
        return self._key.seed([tokens.words for tokens in before])

    def least_seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Seed:
        seeds = [self.seed([each]) for each in before]
        return self._key.pair_seed(self._key.least(seeds, tokens.self_words, tokens.words))

    def uniform(self, seed: Seed, tokens: PreparedTokens) -> Words:
        return keyed_numbers_v2.keyed_uniform(seed, tokens.words)

    def is_below(self, seed: Seed, tokens: PreparedTokens, bound: int) -> Any:
        return is_below(keyed_numbers_v2.keyed_word(seed, tokens.words), bound)

    def identity(self, seed: Seed) -> Any:
        a = np.asarray(seed.a).astype(np.int64)
        if isinstance(seed.b, int) and not isinstance(seed.a, int):
            return a  # the other word is the same for all pairs
        return a << 32 | np.asarray(seed.b).astype(np.int64)

    def _words(self, ids: Words) -> Words:
        return self._key.token_word(ids)

    def _self_words(self, tokens: PreparedTokens) -> Words:
        return keyed_numbers_v2.keyed_word(self.seed([tokens]), tokens.words)

    def _rounds(self, seed: Seed, words: Callable[[Words], Words]) -> Rounds:
        return keyed_numbers_v2.rounds(seed, words)


_OF_VERSIONS: dict[int, Callable[[bytes | str, str, int], KeyedNumbers]] = {
    1: KeyedNumbersV1,
    2: KeyedNumbersV2,
}


def keyed_numbers(version: int, key: bytes | str, scheme: str, size: int) -> KeyedNumbers:
    """The numbers of a scheme under a key, for a vocabulary.

    Raises:
        SettingsError: there is no such version.
        CredentialError: the key is too short or too long.
    """
    if type(version) is not int or version not in _OF_VERSIONS:
        raise SettingsError(
            f"version: expected {' or '.join(map(str, get_args(Version)))}, found "
            f"{shown(version)}; 2 is the default, 1 is for texts that were written before it"
        )
    return _OF_VERSIONS[version](key, scheme, size)
