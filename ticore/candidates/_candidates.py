"""From logits to candidates, for one model and one set of settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..interfaces import Decoder, LanguageModel, Logits, Tokenizer, TopDecoder
from ._pool import Bools, Ints, Pool
from ._settings import PoolSettings

Floats = npt.NDArray[np.float64]

_TOP_P_BITS = 30
_FALLBACK_CHUNK = 64
# How many logits beyond top_k are fetched from a decoder that gives the largest alone. Some of them
# are not candidates, and one must be lower than the last candidate.
_SPARE = 32
_CLIP = 2**40
_FEW = 256  # values that are sorted as fast by comparing
_LEAST_COLUMNS = 1024
_COLUMNS_PER_TOKEN = 4  # with fewer, many more than the top k exceed the bound of `_contenders`


class Candidates:
    """Makes the candidates of each step from a model's logits, under one set of settings.

    Thread-safe: it never changes.

    Args:
        model: whose logits are read.
        settings: what shapes a pool.

    Attributes:
        settings: as given.
        ids: int64[n], the tokens that may be candidates, in rising order.
    """

    def __init__(self, model: LanguageModel, settings: PoolSettings) -> None:
        self.settings = settings
        self._never = np.ones(model.logit_width, dtype=bool)
        never = non_candidates(model.tokenizer, model.eos_ids)
        self._never[: len(never)] = never[: model.logit_width]
        self._never_ids, self.ids = np.flatnonzero(self._never), np.flatnonzero(~self._never)
        self._ends = sorted(i for i in model.eos_ids if i < model.logit_width)

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
        logits = np.asarray(logits)
        ids = self._contenders(logits, self.settings.top_k)
        return self._cut(self._in_order(logits[ids], ids, self.settings.top_k))

    def remaining(self, logits: Logits, pool: Pool) -> Iterator[Pool]:
        """The tokens that are not in `pool`, in parts, the most probable first.

        Args:
            logits: float[logit_width], from which `pool` was made.
            pool: tokens to leave out.
        """
        logits, others = np.asarray(logits), ~self._never
        others[pool.ids] = False
        ids = np.flatnonzero(others)
        ordered = self._in_order(logits[ids], ids)
        for start in range(0, len(ordered), _FALLBACK_CHUNK):
            yield ordered.keep(slice(start, start + _FALLBACK_CHUNK))

    def chance_of_end(self, logits: Logits, pool: Pool) -> float:
        """The probability that the model ends its text here, if it may.

        It is what sampling from the pool and the tokens that end a text would give, of which those
        count that are as probable as the pool's least probable token. Writer and reader need not
        agree on it, so floats will do.

        Args:
            logits: float[logit_width].
            pool: the candidates that were made from them.
        """
        if not self._ends or not len(pool):
            return 0.0
        steps = self._scaled(np.asarray(logits)[self._ends])
        steps = steps[steps >= pool.rounded_logits.min()]
        if not len(steps):
            return 0.0
        highest = max(steps.max(), pool.rounded_logits.max())
        ends, others = (
            np.exp((of - highest) / (1 << pool.grid_bits)).sum()
            for of in (steps, pool.rounded_logits)
        )
        return float(ends / (ends + others))

    def stable_within(
        self, logits: Logits, tolerance: float, *, with_remaining: bool = False
    ) -> bool:
        """Whether all logits that differ from these by at most `tolerance` give the same pool.

        Args:
            logits: float[logit_width].
            tolerance: at least 0, in units of logits.
            with_remaining: the `remaining` tokens must be the same as well.
        """
        logits = np.asarray(logits)
        # A token more than a grid step below the last of the top k cannot rise among them.
        count = None if with_remaining else self.settings.top_k
        ids = self._contenders(logits, count, steps_below=1)
        scaled = self._scaled(logits[ids])
        scaled = scaled[scaled > -np.inf]
        rounded = _rounded(scaled)
        least = rounded[_falling_order(rounded)][:count].min(initial=_CLIP) - 1
        rivals = scaled[rounded >= least]
        distance = 0.5 - np.abs(rivals - np.rint(rivals))
        return bool((distance > self._scaled_one(tolerance)).all())

    def _contenders(self, logits: Logits, count: int | None, steps_below: int = 0) -> Ints:
        """Ids of candidates, in order: at least all that rounding can put among the top `count`.

        Rounding and sorting a whole vocabulary takes long, and most of it lies far below:

        1. The logits are dealt out to columns. If the largest one of each of `count` columns is at
           least `bound`, at least `count` tokens are.
        2. So each of the top `count`, by rounded logits, is rounded to at least what `bound` is
           rounded to, and lies less than a grid step below that. (Half a step would do. The other
           half is for the errors of the floats.)

        Example: with a grid of 1 and the bound 4.6, which rounds to 5, a token of 4.55 rounds to 5
        as well and may come first by its id. All logits of at least 4 are taken.

        Args:
            logits: float[logit_width].
            count: how many tokens; None takes all.
            steps_below: those as well that are rounded to as many grid steps less.

        Raises:
            ModelError: a logit is NaN or infinitely large.
        """
        self._require_finite(logits.max())  # NaN if any is
        if count is None:
            return self.ids
        columns = max(_LEAST_COLUMNS, _COLUMNS_PER_TOKEN * count)
        dealt = len(logits) // columns * columns
        if dealt == 0:
            return self.ids
        candidates = logits.copy()
        candidates[self._never_ids] = -np.inf
        peaks = candidates[:dealt].reshape(-1, columns).max(axis=0)
        bound = np.partition(peaks, columns - count)[columns - count]
        level = self._level(bound)
        if level - steps_below <= -_CLIP:
            return self.ids
        least = (level - 1 - steps_below) / (1 << self.settings.grid_bits)
        # The next lower number makes up for rounding to the type of the logits.
        with np.errstate(over="ignore"):
            least = np.nextafter(logits.dtype.type(least * self.settings.temperature), -np.inf)
        return np.flatnonzero(candidates >= least) if np.isfinite(least) else self.ids

    def _in_order(self, logits: Logits, ids: Ints, count: int | None = None) -> Pool:
        """The first `count` of some tokens, without those whose logit is minus infinity.

        Args:
            logits: float[n], of the tokens.
            ids: int64[n], in rising order.
            count: how many of them; None gives all.
        """
        scaled = self._scaled(logits)
        rounded = _rounded(scaled)
        order = _falling_order(rounded)
        if len(order) and rounded[order[-1]] == -_CLIP:
            order = order[scaled[order] > -np.inf]
        order = order[:count]
        return Pool(ids[order], rounded[order], self.settings.grid_bits)

    def _pool_of_top(self, decoder: Decoder) -> Pool | None:
        """The pool, made from the largest logits alone; None if they do not decide it.

        This avoids fetching the logits of a whole vocabulary from a device.
        """
        k = self.settings.top_k
        if k is None or k + _SPARE >= len(self._never) or not hasattr(decoder, "top"):
            return None
        ids, logits = cast(TopDecoder, decoder).top(k + _SPARE)
        logits = np.asarray(logits)
        self._require_finite(logits.max())
        # Tokens that were not fetched are at most as probable as the last of these.
        last = self._level(logits[-1])
        candidate = ~self._never[ids]
        by_id = np.argsort(ids[candidate])
        pool = self._in_order(logits[candidate][by_id], ids[candidate][by_id], k)
        return self._cut(pool) if len(pool) == k and pool.rounded_logits[-1] > last else None

    def _require_finite(self, largest: float) -> None:
        if not self._scaled_one(largest) < math.inf:  # nor is NaN
            raise ModelError(
                "expected finite logits, found NaN or infinity; "
                "check the model's files and its number format"
            )

    def _scaled(self, logits: npt.ArrayLike) -> Floats:
        """Logits in steps of the grid.

        Each operation rounds, so writer and reader must divide and multiply in the same order.
        """
        scaled = np.array(logits, dtype=np.float64)
        scaled /= self.settings.temperature
        scaled *= 1 << self.settings.grid_bits
        return scaled

    def _level(self, logit: float) -> int:
        """One logit that is not NaN, rounded."""
        return round(max(-_CLIP, min(self._scaled_one(logit), _CLIP)))

    def _scaled_one(self, logit: float) -> float:
        """The same for one logit, in a tenth of the time."""
        return float(logit) / self.settings.temperature * (1 << self.settings.grid_bits)

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


def _rounded(scaled: Floats) -> Ints:
    """Whole steps of the grid. Those beyond 2^40, which no model gives, are as good as 2^40."""
    steps = np.rint(scaled)
    np.maximum(steps, -_CLIP, out=steps)
    np.minimum(steps, _CLIP, out=steps)
    return steps.astype(np.int64)


def _falling_order(values: Ints) -> Ints:
    """Indices that sort `values` by falling value, then by index: int64[n].

    NumPy sorts 16 bits at a time by counting, in a tenth of the time that comparing takes. Logits
    of one step hardly ever differ by more than 2^16 steps of the grid, so one time is enough.
    """
    order: Ints
    if len(values) < _FEW:
        order = np.argsort(-values, kind="stable")
        return order
    below = values.max() - values
    order = np.argsort(below.astype(np.uint16), kind="stable")
    for shift in range(16, int(below.max()).bit_length(), 16):
        digits = (below[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    return order
