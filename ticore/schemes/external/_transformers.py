"""Transformers' green lists: `WatermarkingConfig`, after Kirchenbauer et al. 2023 and 2024.

Before each token the engine seeds torch's generator from the tokens before (and, for `selfhash`,
from the candidate itself), shuffles the vocabulary, and prefers its first tokens. A reader asks of
each token whether it is among these, and needs no list.

Sources: transformers 5, generation/logits_process.py (`WatermarkLogitsProcessor`) and
generation/watermarking.py (`WatermarkDetector`).
Compared with transformers 5.23: the green tokens and z-scores of its detector. On an H200 with
PyTorch 2.11 and transformers 5.17: the same, and 5,089 shuffles.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from ...errors import SettingsError, shown
from .._base import Array
from .._evidence import Evidence, Ints, draw_ids
from .._null_distributions import HypergeometricNull, usual_marked_share
from .._settings import (
    MAX_CONTEXT,
    MOST_BIAS,
    WHY_MAX_CONTEXT,
    checked_integer,
    checked_number,
    selected_settings,
)
from .._windows import SomeIds, token_ids, windows
from ._cpu_shuffle import CpuShuffle
from ._cuda_shuffle import BLOCK, CudaShuffle, grid
from ._philox import UInt64Array
from ._writing import context_rows, moved

_TABLE_SIZE = 1_000_003  # of the table that selfhash looks tokens up in
_MOST_TOKENS = 1 << 22  # vocabularies have up to about a million
_MOST_THREADS = 1 << 24
_CANDIDATES = 40  # for which selfhash draws lists, where it writes
_MODULUS = (1 << 64) - 1  # `manual_seed` gets numbers modulo this
_ALL_BITS = (1 << 64) - 1


class Shuffle(Protocol):
    """`torch.randperm(size)` on a device, with a generator that has just got a seed. Immutable."""

    def __hash__(self) -> int: ...

    @property
    def seed_bits(self) -> int:
        """Of a seed's 64 bits, how many of the lower ones the generator uses."""
        ...

    def is_among_first(self, seed: int, number: int, count: int, size: int) -> bool:
        """Whether a number from 0 to `size` - 1 stands at one of the first `count` places."""
        ...

    def first(self, seed: int, count: int, size: int) -> Ints:
        """int64[count]: the numbers at the first places, in their order."""
        ...


class TransformersKGW:
    """Reads and writes as transformers does with a `WatermarkingConfig`. Thread-safe.

    The lists depend on the device that drew them: a CPU, or a CUDA GPU with PyTorch 2.7 or newer
    (before 2.7 it drew other lists of up to 30,083 tokens). The lists of one GPU are those of
    another, except where they are longer than the GPU has threads, as the table of selfhash always
    is. Those of other devices (MPS, XPU) come from other generators, and cannot be detected.

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
        variant: `GPU` if the writer drew on one, else empty; for names.
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
        cuda_threads: int | None = None,
    ) -> None:
        """
        Args:
            vocab_size: the model config's, which may be more than the tokenizer's.
            greenlist_ratio, hashing_key, seeding_scheme: the writer's.
            context_width: the writer's, from 1 to 256.
            cuda_threads: if the writer drew on a GPU, how many threads that runs at once:
                `multi_processor_count * max_threads_per_multi_processor` of
                `torch.cuda.get_device_properties(0)`, such as 270,336 for an H100 SXM or an H200.
                None: it drew on a CPU.
            bias: what is added to the logits of green tokens. Of detection only the search for a
                segment depends on it.

        Raises:
            SettingsError: transformers does not take a value, or lists would be empty.
        """
        why = "lists of larger vocabularies fill the memory"
        self._size = checked_integer("vocab_size", vocab_size, 2, _MOST_TOKENS, why=why)
        share = checked_number("greenlist_ratio", greenlist_ratio, above=0, below=1)
        bias = checked_number("bias", bias, above=0, below=MOST_BIAS)
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
        if cuda_threads is None:
            self._shuffle: Shuffle = CpuShuffle()
        else:
            threads = _checked_threads(cuda_threads)
            if seeding_scheme == "lefthash":  # GPUs that draw the same are one configuration
                threads = grid(self._size, threads)
            self._shuffle = CudaShuffle(threads)
        self.variant = "" if cuda_threads is None else "GPU"
        self._bias = bias
        self._includes_itself = seeding_scheme == "selfhash"
        self.context = width - self._includes_itself
        marked = usual_marked_share(share, bias)
        self.null = HypergeometricNull(share, marked, self._greens, self._size)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], vocab_size: int) -> TransformersKGW:
        """From `WatermarkingConfig.to_dict()`, or a part of it, and `cuda_threads`.

        Raises:
            SettingsError: a setting is unknown or out of range.
        """
        names = ("greenlist_ratio", "bias", "hashing_key", "seeding_scheme", "context_width")
        return cls(vocab_size, **selected_settings(config, (*names, "cuda_threads"), ()))

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
        wide = seeds.astype(np.int64)
        return Evidence.after_context(self.context, wide, draw_ids(wide, tokens), scores)

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
                listed = _green_ids(self._shuffle, seed, self._greens, self._size)
                row[listed[listed < len(row)]] = True
        return logits + self._bias * moved(greens, logits)

    def _likeliest(self, logits: Array) -> Ints:
        """int64[rows, 40 or fewer]: the tokens with the highest logits, in each row."""
        some = logits[..., : self._size]
        order = array_namespace(logits).argsort(some, axis=-1, descending=True, stable=True)
        count = min(_CANDIDATES, some.shape[-1])
        return context_rows(order[..., :count], count, logits)

    def _seeds(self, previous: Ints) -> UInt64Array:
        """For lefthash, uint64[n]: the key times the token before, a Python int in the engine."""
        distinct, which = np.unique(previous, return_inverse=True)
        seeds = [self._key * token % _MODULUS for token in distinct.tolist()]
        return self._used(np.array(seeds, np.uint64))[which]

    def _seeds_of_windows(self, window: Ints) -> UInt64Array:
        """For selfhash, uint64[n]: the least product in a window, in int64 that wraps around."""
        # A prompt may hold ids that the model has no list for.
        most = max(self._size, int(window.max(initial=0)) + 1)
        table = _table(self._shuffle, self._key & _ALL_BITS, min(most, _TABLE_SIZE))
        looked_up = table[window % _TABLE_SIZE] + 1
        key = np.array(self._key & _ALL_BITS, np.uint64).astype(np.int64)
        least = (key * looked_up * looked_up[:, -1:]).min(axis=1)
        # The engine's `%` adds 2^64 - 1 to a negative number, which is -1 in 64 bits.
        return self._used((least - (least < 0)).astype(np.uint64))

    def _used(self, seeds: UInt64Array) -> UInt64Array:
        """uint64[n]: the bits of seeds that the shuffle depends on."""
        used: UInt64Array = seeds & np.uint64((1 << self._shuffle.seed_bits) - 1)
        return used

    def _scores(self, seeds: UInt64Array, tokens: Ints) -> npt.NDArray[np.float64]:
        seeds_of_lists, lists = np.unique(seeds, return_inverse=True)
        # In the order of seeds, so that what each shuffle draws is drawn once.
        distinct, which = np.unique(lists * self._size + tokens, return_inverse=True)
        green = [
            _is_green(self._shuffle, seed, token, self._greens, self._size)
            for seed, token in zip(
                seeds_of_lists[distinct // self._size].tolist(),
                (distinct % self._size).tolist(),
                strict=True,
            )
        ]
        return np.array(green, np.float64)[which]


def _checked_threads(cuda_threads: int) -> int:
    why = "it is the number of the GPU's multiprocessors times the threads of each"
    threads = checked_integer("cuda_threads", cuda_threads, BLOCK, _MOST_THREADS, why=why)
    if threads % BLOCK:
        raise SettingsError(
            f"cuda_threads: expected a multiple of {BLOCK}, found {threads}; {why}, for an H200 "
            f"132 * 2048"
        )
    return threads


@lru_cache(maxsize=1 << 16)
def _is_green(shuffle: Shuffle, seed: int, token: int, greens: int, size: int) -> bool:
    return shuffle.is_among_first(seed, token, greens, size)


# With the largest vocabulary, the longest lists take 128 MiB together.
@lru_cache(maxsize=4)
def _green_ids(shuffle: Shuffle, seed: int, greens: int, size: int) -> Ints:
    return shuffle.first(seed, greens, size)


@lru_cache(maxsize=4)
def _table(shuffle: Shuffle, seed: int, count: int) -> Ints:
    """int64[count]: the first of `torch.randperm(1_000_003)`."""
    return shuffle.first(seed, count, _TABLE_SIZE)
