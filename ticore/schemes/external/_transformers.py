"""Transformers' green lists: `WatermarkingConfig`, after Kirchenbauer et al. 2023 and 2024.

Before each token the engine seeds torch's generator from the tokens before (and, for `selfhash`,
from the candidate itself), shuffles the vocabulary, and prefers its first tokens. Here the same
shuffle is followed for one token alone, so no list is ever built.

Sources: transformers 5, generation/logits_process.py (`WatermarkLogitsProcessor`) and
generation/watermarking.py (`WatermarkDetector`); ATen/native/TensorFactories.cpp (`randperm_cpu`).
Compared with transformers 5.23: the green tokens and z-scores of its detector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from ...errors import SettingsError, shown
from .._base import Array
from .._evidence import Evidence, Ints, draw_ids
from .._null_distributions import HypergeometricNull, usual_marked_share
from .._settings import (
    MAX_CONTEXT,
    WHY_MAX_CONTEXT,
    checked_integer,
    checked_number,
    selected_settings,
)
from .._windows import SomeIds, token_ids, windows
from ._writing import context_rows, moved

_TABLE_SIZE = 1_000_003  # of the table that selfhash looks tokens up in
# The swaps of a list take 4 bytes per green token, and those of eight lists are cached: at most
# 128 MiB. Vocabularies have up to about a million tokens. (Above 214,748,363 torch shuffles in
# another way.)
_MOST_TOKENS = 1 << 22
_WORD = 0xFFFFFFFF
_CANDIDATES = 40  # for which selfhash draws lists, where it writes
# `manual_seed` gets numbers modulo this, and its generator uses their lower 32 bits.
_MODULUS = (1 << 64) - 1


class TransformersKGW:
    """Reads and writes as transformers does with a `WatermarkingConfig` on a CPU. Thread-safe.

    The lists depend on the device that drew them. Those of a GPU come from another generator, and
    cannot be detected.

    Scores are 1 for green tokens and 0 for others. `null.strength` over all of them is the z-score
    of transformers' `WatermarkDetector`. With `ignore_repeated_ngrams=True` that detector counts
    each n-gram once. `Evidence.distinct` counts each token on each list once. That is less where
    n-grams share a list: `lefthash` uses only the last token of its context. The share of green
    tokens is taken to be `greenlist_ratio`, as in transformers. A list's true share is smaller by
    less than one token, so the p-value is never too small.

    With `lefthash` the list after token 0 is the same under every key (0 times the key). So a text
    in which token 0 is frequent scores high or low whatever the key; `null` does not account for
    this.

    Attributes:
        context: `context_width` for lefthash, one less for selfhash, whose window ends with the
            candidate.
        null: the distribution with exact lists.
        greedy: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "transformers"
    greedy = False

    def __init__(
        self,
        vocab_size: int,
        *,
        greenlist_ratio: float = 0.25,
        bias: float = 2.0,
        hashing_key: int = 15485863,
        seeding_scheme: str = "lefthash",
        context_width: int = 1,
    ) -> None:
        """
        Args:
            vocab_size: the model config's, which may be more than the tokenizer's.
            greenlist_ratio, hashing_key, seeding_scheme: the writer's.
            context_width: the writer's, from 1 to 256.
            bias: what is added to the logits of green tokens. Of detection only the search for a
                segment depends on it.

        Raises:
            SettingsError: transformers does not take a value, or lists would be empty.
        """
        why = "lists of larger vocabularies fill the memory"
        self._size = checked_integer("vocab_size", vocab_size, 2, _MOST_TOKENS, why=why)
        share = checked_number("greenlist_ratio", greenlist_ratio, above=0, below=1)
        bias = checked_number("bias", bias, above=0, below=math.inf)
        self._key = checked_integer(
            "hashing_key", hashing_key, -(1 << 63), (1 << 64) - 1, secret=True
        )
        width = checked_integer("context_width", context_width, 1, MAX_CONTEXT, why=WHY_MAX_CONTEXT)
        if seeding_scheme not in ("lefthash", "selfhash"):
            raise SettingsError(
                f"seeding_scheme: expected 'lefthash' or 'selfhash', found "
                f"{shown(seeding_scheme)}; give the writer's"
            )
        self._greens = int(self._size * share)
        if not 0 < self._greens < self._size:
            raise SettingsError(
                f"greenlist_ratio: expected a share that makes at least one of {self._size} tokens "
                f"green and not all, found {shown(greenlist_ratio)}; check vocab_size, too"
            )
        self._bias = bias
        self._includes_itself = seeding_scheme == "selfhash"
        self.context = width - self._includes_itself
        marked = usual_marked_share(share, bias)
        self.null = HypergeometricNull(share, marked, self._greens, self._size)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], vocab_size: int) -> TransformersKGW:
        """From `WatermarkingConfig.to_dict()`, or a part of it.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        names = ("greenlist_ratio", "bias", "hashing_key", "seeding_scheme", "context_width")
        return cls(vocab_size, **selected_settings(config, names, ()))

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of 1.0 for green tokens and 0.0 for others.

        Args:
            ids: int[n], below `vocab_size`.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids, self._size)
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        seeds = (
            self._seeds_of_windows(window) if self._includes_itself else self._seeds(window[:, -2])
        )
        scores = self._scores(seeds, tokens)
        return Evidence.after_context(self.context, seeds, draw_ids(seeds, tokens), scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with `bias` added to those of green tokens; see `Scheme.bias`.

        As in the engine, `selfhash` looks only at the 40 tokens with the highest logits.
        """
        contexts = context_rows(context, self.context, logits)
        greens = np.zeros((len(contexts), logits.shape[-1]), np.bool_)
        if self._includes_itself:
            for row, best, one in zip(greens, self._likeliest(logits), contexts, strict=True):
                window = np.concatenate(
                    [np.broadcast_to(one, (len(best), len(one))), best[:, None]], 1
                )
                row[best] = self._scores(self._seeds_of_windows(window), best)
        else:
            for row, seed in zip(greens, self._seeds(contexts[:, -1]).tolist(), strict=True):
                listed = _green_ids(seed, self._greens, self._size)
                row[listed[listed < len(row)]] = True
        return logits + self._bias * moved(greens, logits)

    def _likeliest(self, logits: Array) -> Ints:
        """int64[rows, 40 or fewer]: the tokens with the highest logits, in each row."""
        some = logits[..., : self._size]
        order = array_namespace(logits).argsort(some, axis=-1, descending=True, stable=True)
        count = min(_CANDIDATES, some.shape[-1])
        return context_rows(order[..., :count], count, logits)

    def _seeds(self, previous: Ints) -> Ints:
        """For lefthash, int64[n]: the key times the token before, a Python int in the engine."""
        distinct, which = np.unique(previous, return_inverse=True)
        seeds = [self._key * token % _MODULUS & _WORD for token in distinct.tolist()]
        return np.array(seeds, np.int64)[which]

    def _seeds_of_windows(self, window: Ints) -> Ints:
        """For selfhash, int64[n]: the least product in a window, in int64 that wraps around."""
        # A prompt may hold ids that the model has no list for.
        most = max(self._size, int(window.max(initial=0)) + 1)
        table = _table(self._key & _WORD, min(most, _TABLE_SIZE))
        looked_up = table[window % _TABLE_SIZE] + 1
        key = np.array(self._key & (1 << 64) - 1, np.uint64).astype(np.int64)
        least = (key * looked_up * looked_up[:, -1:]).min(axis=1)
        # The engine's `%` adds 2^64 - 1 to a negative number, which is -1 in the lower bits.
        seeds: Ints = (least - (least < 0)) & _WORD
        return seeds

    def _scores(self, seeds: Ints, tokens: Ints) -> npt.NDArray[np.float64]:
        # In the order of seeds, so that the shuffle of each seed is drawn once.
        distinct, which = np.unique(draw_ids(seeds, tokens), return_inverse=True)
        green = [
            _is_green(draw >> 32 & _WORD, draw & _WORD, self._greens, self._size)
            for draw in distinct.tolist()
        ]
        return np.array(green, np.float64)[which]


@lru_cache(maxsize=1 << 16)
def _is_green(seed: int, token: int, greens: int, size: int) -> bool:
    """Whether a seed's shuffle moves a token to one of the first `greens` places.

    Step i of the shuffle swaps place i with a later place (or itself), and no later step changes
    place i. So a token stays where it is until a step swaps its place to the front, or until the
    step of its own place moves it further back.
    """
    swaps = _swaps(seed, greens, size)
    start, place = 0, token
    while not (swaps[start:place] == place).any():
        if place >= greens:
            return False
        start, place = place + 1, int(swaps[place])
        if place == start - 1:
            return True
    return True


@lru_cache(maxsize=8)
def _green_ids(seed: int, greens: int, size: int) -> Ints:
    """int64[greens]: the tokens that a seed's shuffle moves to the first places, in their order.

    Step i swaps place i with place `swaps[i]`, which is i or later. So what it takes from there was
    put there by the last earlier step that swapped with this place, and is what that step found at
    its own place; or it is the token that stood there from the beginning.
    """
    swaps = _swaps(seed, greens, size).astype(np.int64)
    steps = np.arange(greens)
    order = np.argsort(swaps, kind="stable")
    targets = swaps[order]
    same = np.concatenate([[False], targets[1:] == targets[:-1]])
    before = np.full(greens, -1)  # the last earlier step that swapped with the same place
    before[order[same]] = order[:-1][same[1:]]
    # Of the steps that swap with a step's own place: the last one; -1 where all targets are later.
    last = np.searchsorted(targets, steps, side="right") - 1
    to_here = np.where(targets[last] == steps, order[last], -1)
    to_here = np.where(to_here == steps, before, to_here)
    found = np.where(to_here < 0, steps, to_here)  # what a step finds at its place: follow back
    while (found != found[found]).any():
        found = found[found]
    taken = np.where(before < 0, swaps, found[before])
    tokens: Ints = np.where(swaps == steps, found, taken)
    return tokens


@lru_cache(maxsize=8)
def _swaps(seed: int, count: int, size: int) -> npt.NDArray[np.uint32]:
    """uint32[count]: the place that each of the first steps of `torch.randperm(size)` swaps with.

    `RandomState` seeds MT19937 as torch does, and its `bytes` are the generator's raw output.
    """
    words = np.frombuffer(np.random.RandomState(seed).bytes(4 * count), "<u4")
    steps = np.arange(count, dtype=np.uint32)
    swaps: npt.NDArray[np.uint32] = words % (np.uint32(size) - steps) + steps
    return swaps


@lru_cache(maxsize=4)
def _table(seed: int, count: int) -> Ints:
    """int64[count]: the first of `torch.randperm(1_000_003)`."""
    moved: dict[int, int] = {}
    first = []
    for place, other in enumerate(_swaps(seed, count, _TABLE_SIZE).tolist()):
        first.append(moved.get(other, other))
        moved[other] = moved.get(place, place)
    return np.array(first, np.int64)
