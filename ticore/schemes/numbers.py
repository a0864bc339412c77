"""The random numbers of a scheme under one key, of either version, as schemes ask for them.

Version 2 (`wide`) is what is written; version 1 (`keyed`) reads what was written before. Both keep
for each token of the vocabulary what does not depend on its context.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError
from . import feistel, keyed, wide
from .base import Array
from .feistel import Rounds
from .keyed import Key
from .tables import Tables
from .wide import Seed, WideKey
from .words import Words, is_below, lesser, looked_up

Version = Literal[1, 2]
LATEST: Version = 2
_NUMPY = np.empty(0)  # for tables that are wanted in NumPy


@dataclass(frozen=True)
class Tokens:
    """Tokens as numbers are made of them: ints, or arrays of one shape.

    Attributes:
        ids: their ids.
        words: what is computed of each once for all contexts.
        own: what `SelfHash` needs of each besides; None where it was not asked for.
        alone: the seed of each as the only token before; None likewise, or where it is no faster.
    """

    ids: Words
    words: Words
    own: Words = None
    alone: Seed | None = None

    def __getitem__(self, where: Any) -> Tokens:
        own = None if self.own is None else self.own[where]
        alone = None if self.alone is None else Seed(self.alone.a[where], self.alone.b[where])
        return Tokens(self.ids[where], self.words[where], own, alone)


class Numbers(ABC):
    """Random numbers for pairs of a context and a token, from a *seed* and the token.

    Args:
        size: of the vocabulary.
    """

    version: Version

    def __init__(self, size: int) -> None:
        self._size = size
        self._tables = Tables()

    def any_tokens(self, ids: Words) -> Tokens:
        """Any ids: those of a prompt may lie beyond the vocabulary."""
        return Tokens(ids, self._words(ids))

    def known_tokens(
        self, ids: npt.NDArray[np.uint32], *, own: bool = False, alone: bool = False
    ) -> Tokens:
        """Ids below the vocabulary's size, looked up; `own` and `alone` if they are wanted."""

        def found(name: str) -> npt.NDArray[np.uint32]:
            table: npt.NDArray[np.uint32] = self._table(name, self._size, _NUMPY)
            return table[ids]

        seed = Seed(found("a"), found("b")) if alone and self.version > 1 else None
        return Tokens(ids, found("words"), found("own") if own else None, seed)

    def all_tokens(self, size: int, like: Array, *, own: bool = False) -> Tokens:
        """The first `size` tokens of the vocabulary, in the library of `like`; kept there."""
        given = self._table("own", size, like) if own else None
        return Tokens(self._table("ids", size, like), self._table("words", size, like), given)

    @abstractmethod
    def seed(self, before: Sequence[Tokens]) -> Any:
        """What is drawn from after a context."""

    @abstractmethod
    def least_seed(self, before: Sequence[Tokens], tokens: Tokens) -> Any:
        """What `SelfHash` draws from: a seed for each token. They have `own`."""

    @abstractmethod
    def number(self, seed: Any, tokens: Tokens) -> Words:
        """From 0 to 2^31 - 1."""

    @abstractmethod
    def is_below(self, seed: Any, tokens: Tokens, bound: int) -> Any:
        """Whether the number is below a bound."""

    @abstractmethod
    def identity(self, seed: Any) -> Any:
        """An int64, or many, that tells seeds in Python's or NumPy's integers apart."""

    def is_placed_below(self, seed: Any, tokens: Tokens, bound: int) -> Any:
        """Whether a token's place, in the order that a seed puts all in, is below a bound."""
        rounds = self._rounds(seed, self._looked_up)
        return feistel.place(rounds, tokens.ids, self._size) < bound

    def are_placed_below(self, seed: Any, size: int, like: Array, bound: int) -> Array:
        """The same of the first `size` tokens after one seed, or each of int[..., 1] seeds."""
        halves = self.all_tokens(max(feistel.rectangle(self._size)), like)
        rounds = self._rounds(seed, lambda at: halves.words[: len(at)])
        places = feistel.all_places(rounds, halves.ids, self._size)
        return places[..., :size] < bound

    @abstractmethod
    def _words(self, ids: Words) -> Words: ...

    @abstractmethod
    def _own(self, tokens: Tokens) -> Words: ...

    @abstractmethod
    def _rounds(self, seed: Any, words: Callable[[Words], Words]) -> Rounds: ...

    def _table(self, name: str, size: int, like: Array) -> Array:
        return self._tables.get(name, size, like, lambda: self._computed(name))

    def _computed(self, name: str) -> npt.NDArray[np.uint32]:
        if name == "ids":
            return np.arange(self._size, dtype=np.uint32)
        found: npt.NDArray[np.uint32]
        if name == "words":
            found = self._words(self._table("ids", self._size, _NUMPY))
        elif name == "own":
            found = self._own(self.all_tokens(self._size, _NUMPY))
        else:
            found = getattr(self.seed([self.all_tokens(self._size, _NUMPY)]), name)
        return found

    def _looked_up(self, ids: Words) -> Words:
        """The words of arrays of ids below the vocabulary's size."""
        return looked_up(self._table("words", self._size, ids), ids)


class FirstNumbers(Numbers):
    """Version 1: see `keyed`. A seed is one word."""

    version: Version = 1

    def __init__(self, key: bytes | str, scheme: str, size: int) -> None:
        super().__init__(size)
        self._key = Key.derive(key, f"ticore watermark {scheme}")

    def seed(self, before: Sequence[Tokens]) -> Words:
        return self._key.seed([tokens.ids for tokens in before])

    def least_seed(self, before: Sequence[Tokens], tokens: Tokens) -> Words:
        least = keyed.spread_number(tokens.own, tokens.words)
        for each in before:
            least = lesser(least, keyed.spread_number(tokens.own, each.words))
        return least

    def number(self, seed: Words, tokens: Tokens) -> Words:
        return keyed.spread_number(seed, tokens.words)

    def is_below(self, seed: Words, tokens: Tokens, bound: int) -> Any:
        return self.number(seed, tokens) < bound

    def identity(self, seed: Words) -> Any:
        return np.asarray(seed).astype(np.int64)

    def _words(self, ids: Words) -> Words:
        return keyed.spread(ids)

    def _own(self, tokens: Tokens) -> Words:
        return self._key.seed([tokens.ids])

    def _rounds(self, seed: Words, words: Callable[[Words], Words]) -> Rounds:
        return keyed.rounds(seed)


class WideNumbers(Numbers):
    """Version 2: see `wide`."""

    version: Version = 2

    def __init__(self, key: bytes | str, scheme: str, size: int) -> None:
        super().__init__(size)
        self._key = WideKey.derive(key, f"ticore watermark {scheme}, version 2")

    def seed(self, before: Sequence[Tokens]) -> Seed:
        if len(before) == 1 and before[0].alone is not None:
            return before[0].alone
        return self._key.seed([tokens.words for tokens in before])

    def least_seed(self, before: Sequence[Tokens], tokens: Tokens) -> Seed:
        seeds = [self.seed([each]) for each in before]
        return self._key.pair_seed(self._key.least(seeds, tokens.own, tokens.words))

    def number(self, seed: Seed, tokens: Tokens) -> Words:
        return wide.number(seed, tokens.words)

    def is_below(self, seed: Seed, tokens: Tokens, bound: int) -> Any:
        return is_below(wide.drawn(seed, tokens.words), bound)

    def identity(self, seed: Seed) -> Any:
        a = np.asarray(seed.a).astype(np.int64)
        if isinstance(seed.b, int) and not isinstance(seed.a, int):
            return a  # the other word is that of all pairs
        return a << 32 | np.asarray(seed.b).astype(np.int64)

    def _words(self, ids: Words) -> Words:
        return self._key.token_word(ids)

    def _own(self, tokens: Tokens) -> Words:
        return wide.drawn(self.seed([tokens]), tokens.words)

    def _rounds(self, seed: Seed, words: Callable[[Words], Words]) -> Rounds:
        return wide.rounds(seed, words)


_OF_VERSIONS: dict[int, Callable[[bytes | str, str, int], Numbers]] = {
    1: FirstNumbers,
    2: WideNumbers,
}


def numbers_of(version: int, key: bytes | str, scheme: str, size: int) -> Numbers:
    """The numbers of a scheme under a key, for a vocabulary.

    Raises:
        SettingsError: there is no such version.
        KeyFormatError: the key is too short or too long.
    """
    if isinstance(version, bool) or version not in _OF_VERSIONS:
        raise SettingsError(
            f"version: expected {' or '.join(map(str, get_args(Version)))}, found {version!r}; "
            f"2 is what is written now, 1 reads what was written before"
        )
    return _OF_VERSIONS[version](key, scheme, size)
