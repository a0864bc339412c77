"""Schemes that differ in their keys alone, computed together: one array program over keys.

A scheme's program is arithmetic on words, so it does not ask whether a word of the key is one
number or a row of them. Here a word of the key is uint32[keys], a token is uint32[n, 1], and so a
score is [n, keys]: the program is that of the scheme itself, with the same operations on the same
words. So the scores under each key are those of its own scheme, to the last bit.

Nothing is computed for a whole vocabulary: a thousand keys with tables for 150,000 tokens each
would fill the memory. The words of a text's different tokens are computed once for the text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _feistel as feistel
from ._base import Detectable
from ._evidence import Evidence, Ints, draw_ids, first_occurrences
from ._gumbel_payload import GumbelPayload
from ._keyed_numbers import KeyedNumbers, KeyedNumbersV1, KeyedNumbersV2, PreparedTokens
from ._keyed_numbers_v1 import KeyV1
from ._keyed_numbers_v2 import KeyV2, Seed
from ._null_distributions import HypergeometricNull
from ._registry import SCHEMES
from ._self_hash import SelfHash
from ._unigram import Unigram
from ._windows import SomeIds, token_ids
from ._word_arithmetic import Words

SomeInts = npt.NDArray[np.integer[Any]]

_CELLS = 1 << 16  # words that are computed together: 256 KiB, which stay in the processor's cache
_MOST_TOKENS = 1 << 9  # so that a row of `_CELLS` has 64 keys: NumPy is slow with short rows
_MOST_PAIRS = 16  # per token: up to here comparing pairs of equal tokens is faster than sorting


class _OfManyKeys(KeyedNumbers):
    """What differs from the numbers of one key: no tables of the whole vocabulary."""

    def known_tokens(
        self,
        ids: npt.NDArray[np.uint32],
        *,
        self_words: bool = False,
        lone_seeds: bool = False,
    ) -> PreparedTokens:
        different, which = np.unique(ids, return_inverse=True)
        tokens = self.any_tokens(different[:, None])
        own = self._self_words(tokens) if self_words else None
        seeds = self.seed([tokens]) if lone_seeds and self.version > 1 else None
        return PreparedTokens(tokens.ids, tokens.words, own, seeds)[which]

    def _looked_up(self, ids: Words) -> Words:
        count = max(feistel.rectangle(self._size))  # of the coordinates that are ever looked up
        table = self.any_tokens(np.arange(count, dtype=np.uint32)[:, None]).words
        shape = len(ids), table.shape[1]
        return np.take_along_axis(table, np.broadcast_to(ids, shape), axis=0)


class _ManyKeysV1(_OfManyKeys, KeyedNumbersV1):
    def __init__(self, words: Iterable[Words], size: int) -> None:
        KeyedNumbers.__init__(self, size)
        first, second, third, last = words
        self._key = KeyV1((first, second, third, last))


class _ManyKeysV2(_OfManyKeys, KeyedNumbersV2):
    def __init__(self, words: Iterable[Words], size: int) -> None:
        KeyedNumbers.__init__(self, size)
        self._key = KeyV2(tuple(words))

    def identity(self, seed: Seed) -> Any:
        if np.ndim(seed.b) < np.ndim(seed.a):  # that word is the same for all seeds of a key
            return seed.a
        return super().identity(seed)


class KeyGroup:
    """Schemes of ticore that differ in their keys alone. Thread-safe.

    Args:
        schemes: at least one; all have one `group_name`, and `has_key_rows`.

    Attributes:
        scheme: the first one, for all that does not depend on the key.
        windows_decide: whether two tokens share a draw only if they end equal windows of the text.
            It is so where a seed has 64 bits, and the window decides it: that other windows share a
            seed has the probability 2^-64.
    """

    def __init__(self, schemes: Sequence[Detectable]) -> None:
        self.scheme = cast(Any, schemes[0])
        self._words = np.array([key_words(scheme) for scheme in schemes], np.uint32).T
        self._once: bool = getattr(self.scheme, "once", False)
        self.windows_decide = isinstance(self.scheme, Unigram) or (
            self.scheme.version > 1 and not isinstance(self.scheme, SelfHash)
        )
        exact = isinstance(self.scheme.null, HypergeometricNull)
        self._gives_seeds = exact or not self.windows_decide

    def __len__(self) -> int:
        return len(self._words[0])

    def scored(self, ids: Ints, keys: slice) -> tuple[npt.NDArray[Any], SomeInts | None]:
        """The scores of the tokens at position `context` or later, under some of the keys.

        Args:
            ids: int64[n], all below the vocabulary's size.
            keys: which of the keys.

        Returns:
            bool[n - context, keys] or float64[n - context, keys]; and the identities of the seeds,
            integers[n - context, keys], where `windows_decide` is False or lists are exact.
        """
        scores, seeds = [], []
        context = self.scheme.context
        first, last = keys.indices(len(self))[:2]
        for begin in range(0, max(len(ids) - context, 1), _MOST_TOKENS):
            part = ids[begin : begin + _MOST_TOKENS + context]
            size = max(1, _CELLS // len(part)) if len(part) else 1
            blocks = [slice(at, min(at + size, last)) for at in range(first, last, size)]
            found = [self._block(part, block) for block in blocks]
            scores.append(np.concatenate([of_block for of_block, _ in found], axis=1))
            if self._gives_seeds:
                seeds.append(np.concatenate([of_block for _, of_block in found], axis=1))
        return np.concatenate(scores), np.concatenate(seeds) if seeds else None

    def first_of_windows(self, ids: Ints) -> npt.NDArray[np.bool_]:
        """bool[n - context]: whether a token's window occurs there for the first time.

        A window is what decides a draw: the context and the token, or with `once` the context.
        """
        context = self.scheme.context
        count = max(0, len(ids) - context)
        found = np.zeros(count, np.int64)
        for at in range(context + (not self._once)):
            pairs = found << 32 | ids[at : at + count]
            found = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        return first_occurrences(found)

    def evidence(self, ids: SomeIds, key: int) -> Evidence:
        """What the scheme of one key gives, to the last bit, without tables of the vocabulary.

        Args:
            ids: int[n].
            key: the number of the scheme.

        Raises:
            SettingsError: an id is out of range.
        """
        found = token_ids(ids, self.scheme.vocab_size)
        scheme = self._of(slice(key, key + 1))
        seed, scores = scheme._scored(found)
        seeds = np.broadcast_to(scheme._numbers.identity(seed), scores.shape)[:, 0].astype(np.int64)
        draws = seeds if self._once else draw_ids(seeds, found[scheme.context :])
        return Evidence.after_context(scheme.context, seeds, draws, scores[:, 0].astype(np.float64))

    def _block(self, ids: Ints, keys: slice) -> tuple[npt.NDArray[Any], SomeInts | None]:
        scheme = self._of(keys)
        seed, scores = scheme._scored(ids)
        if not self._gives_seeds:
            return scores, None
        return scores, np.broadcast_to(scheme._numbers.identity(seed), scores.shape)

    def _of(self, keys: slice) -> Any:
        """The scheme with the numbers of many keys in the place of those of one."""
        scheme = copy(self.scheme)
        kind = _ManyKeysV1 if scheme.version == 1 else _ManyKeysV2
        scheme._numbers = kind(self._words[:, keys], scheme.vocab_size)
        return scheme


def repeated(tokens: Ints, seeds: SomeInts) -> npt.NDArray[np.bool_]:
    """bool[n, keys]: whether an earlier token is the same and has the same seed.

    Args:
        tokens: int64[n].
        seeds: integers[n, keys], as `KeyGroup.scored` returns them.
    """
    order = np.argsort(tokens, kind="stable")
    begins = np.flatnonzero(np.append(True, np.diff(tokens[order]) != 0))
    sizes = np.diff(np.append(begins, len(tokens)))
    found = np.zeros(seeds.shape, np.bool_)
    if (sizes * (sizes - 1)).sum() > _MOST_PAIRS * len(tokens):
        for key in range(seeds.shape[1]):
            found[:, key] = ~first_occurrences(draw_ids(seeds[:, key].astype(np.int64), tokens))
        return found
    for begin, size in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        alike = order[begin : begin + size]
        rows = seeds[alike]
        for at in range(1, size):
            found[alike[at]] = (rows[:at] == rows[at]).any(axis=0)
    return found


def group_name(scheme: Detectable) -> Hashable | None:
    """What schemes have in common that differ in their keys alone; None for one of its own."""
    if not has_key_rows(scheme) and type(scheme) is not GumbelPayload:
        return None
    settings = ("context", "version", "vocab_size", "gamma", "delta", "greens", "payload_bits")
    return type(scheme), *(getattr(scheme, name, None) for name in settings)


def has_key_rows(scheme: Detectable) -> bool:
    """Whether a KeyGroup computes the scheme. A class of its own may score in another way.

    Not a scheme with a payload: the 256 values of a token fill the arrays already.
    """
    return type(scheme) in SCHEMES.values()


def key_words(scheme: Any) -> tuple[int, ...]:
    """The words of the key of a scheme that has a `group_name`."""
    words: tuple[int, ...] = scheme._numbers._key.words
    return words
