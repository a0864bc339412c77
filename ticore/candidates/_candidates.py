"""From logits to candidates, for one model and one set of settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..interfaces import Decoder, LanguageModel, Logits, Tokenizer, TopDecoder
from ._pool import NEVER, Bools, Ints, Pool
from ._settings import PoolSettings

Floats = npt.NDArray[np.float64]

_TOP_P_BITS = 30
_FALLBACK_CHUNK = 64
# How many logits beyond top_k are fetched from a decoder that gives the largest alone. Some of them
# are not candidates, and one must be lower than the last candidate.
_SPARE = 32
_CLIP = 2**40


class Candidates:
    """Makes the candidates of each step from a model's logits, under one set of settings.

    Thread-safe: it never changes.

    Args:
        model: whose logits are read.
        settings: what shapes a pool.
    """

    def __init__(self, model: LanguageModel, settings: PoolSettings) -> None:
        self.settings = settings
        self._never = np.ones(model.logit_width, dtype=bool)
        never = non_candidates(model.tokenizer, model.eos_ids)
        self._never[: len(never)] = never

    @property
    def max_pool_size(self) -> int:
        """An upper bound of the number of tokens in a pool."""
        return self.settings.top_k or len(self._never)

    def after(self, decoder: Decoder) -> Pool:
        """The pool of the token that follows what a decoder has read.

        Args:
            decoder: one of the model's.

        Raises:
            ModelError: a logit is NaN or infinitely large.
        """
        pool = self._pool_of_top(decoder)
        return self.pool(decoder.logits()) if pool is None else pool

    def pool(self, logits: Logits) -> Pool:
        """The pool of one step.

        Args:
            logits: float[logit_width].

        Raises:
            ModelError: a logit is NaN or infinitely large.
        """
        rounded = self._round(logits, self._never)
        ids = _largest(rounded, self.settings.top_k)
        return self._cut(Pool(ids, rounded[ids], self.settings.grid_bits))

    def remaining(self, logits: Logits, pool: Pool) -> Iterator[Pool]:
        """The tokens that are not in `pool`, in parts, the most probable first.

        Args:
            logits: float[logit_width], from which `pool` was made.
            pool: tokens to leave out.
        """
        rounded = self._round(logits, self._never)
        rounded[pool.ids] = NEVER
        order = np.argsort(-rounded, kind="stable")
        order = order[: int((rounded > NEVER).sum())]
        for start in range(0, len(order), _FALLBACK_CHUNK):
            ids = order[start : start + _FALLBACK_CHUNK]
            yield Pool(ids, rounded[ids], self.settings.grid_bits)

    def stable_within(
        self, logits: Logits, tolerance: float, *, with_remaining: bool = False
    ) -> bool:
        """Whether all logits that differ from these by at most `tolerance` give the same pool.

        Args:
            logits: float[logit_width].
            tolerance: at least 0, in units of logits.
            with_remaining: the `remaining` tokens must be the same as well.
        """
        rounded = self._round(logits, self._never)
        # A token more than a grid step below the last of the top k cannot rise among them.
        count = None if with_remaining else self.settings.top_k
        least = rounded[_largest(rounded, count)].min(initial=_CLIP) - 1
        rivals = self._scaled(logits)[rounded >= least]
        distance = 0.5 - np.abs(rivals - np.rint(rivals))
        return bool((distance > self._scaled(tolerance)).all())

    def _pool_of_top(self, decoder: Decoder) -> Pool | None:
        """The pool, made from the largest logits alone; None if they do not decide it.

        This avoids fetching the logits of a whole vocabulary from a device.
        """
        k = self.settings.top_k
        if k is None or k + _SPARE >= len(self._never) or not hasattr(decoder, "top"):
            return None
        ids, logits = cast(TopDecoder, decoder).top(k + _SPARE)
        rounded = self._round(logits, self._never[ids])
        # Tokens that were not fetched are at most as probable as the last of these.
        last = self._round(logits[-1:], np.zeros(1, dtype=bool))[0]
        best = np.lexsort((ids, -rounded))[:k]
        if rounded[best[-1]] <= last:
            return None
        return self._cut(Pool(ids[best], rounded[best], self.settings.grid_bits))

    def _round(self, logits: Logits, never: Bools) -> Ints:
        scaled = self._scaled(logits)
        if np.isnan(scaled).any() or np.isposinf(scaled).any():
            raise ModelError(
                "expected finite logits, found NaN or infinity; "
                "check the model's files and its number format"
            )
        steps = np.clip(np.rint(scaled), -_CLIP, _CLIP)
        rounded = steps.astype(np.int64)
        rounded[never | np.isneginf(scaled)] = NEVER
        return rounded

    def _scaled(self, logits: npt.ArrayLike) -> Floats:
        """Logits in steps of the grid.

        Each operation rounds, so writer and reader must divide and multiply in the same order.
        """
        at_temperature = np.asarray(logits, dtype=np.float64) / self.settings.temperature
        return at_temperature * (1 << self.settings.grid_bits)

    def _cut(self, pool: Pool) -> Pool:
        """The pool that top-p leaves of the top k."""
        if self.settings.top_p == 1:
            return pool
        share = round(self.settings.top_p * (1 << _TOP_P_BITS))
        enough = -(-int(pool.unnormalized_probs.sum()) * share >> _TOP_P_BITS)
        count = int(np.searchsorted(np.cumsum(pool.unnormalized_probs), enough)) + 1
        return pool.keep(slice(count))


def non_candidates(tokenizer: Tokenizer, eos_ids: Iterable[int]) -> Bools:
    """The ids that are never candidates: special ids, ids that end a text, ids without bytes.

    Args:
        tokenizer: the model's.
        eos_ids: ids that end a text.

    Returns:
        bool[vocab_size], True for an id that is never a candidate.
    """
    mask = np.array([not tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)], dtype=bool)
    never = [i for i in (*tokenizer.special_ids, *eos_ids) if i < len(mask)]
    mask[never] = True
    return mask


def _largest(values: Ints, count: int | None) -> Ints:
    """Indices of the `count` largest values above NEVER, sorted by falling value, then by index."""
    count = len(values) if count is None else min(count, len(values))
    least = max(np.partition(values, len(values) - count)[len(values) - count], NEVER + 1)
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: count - len(above)]
    found = np.concatenate((above, ties))
    ordered: Ints = found[np.argsort(-values[found], kind="stable")]
    return ordered
