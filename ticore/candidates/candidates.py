"""From logits to pools, for one model and one set of settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..interfaces import Decoder, LanguageModel, Logits, Tokenizer, TopDecoder
from .pool import NEVER, Bools, Ints, Pool
from .settings import PoolSettings

Floats = npt.NDArray[np.float64]

_TOP_P_BITS = 30
_FALLBACK_CHUNK = 64
# How many logits beyond top_k are asked for, where a decoder can give the largest alone: of these
# some are no candidates, and one must lie lower than the last candidate.
_SPARE = 32
_CLIP = 2**40


class Candidates:
    """Turns logits into pools for one tokenizer and one set of settings."""

    def __init__(self, model: LanguageModel, settings: PoolSettings) -> None:
        self.settings = settings
        self._never = np.ones(model.logit_width, dtype=bool)
        never = non_candidates(model.tokenizer, model.eos_ids)
        self._never[: len(never)] = never

    @property
    def most(self) -> int:
        """An upper bound of a pool's size."""
        return self.settings.top_k or len(self._never)

    def after(self, decoder: Decoder) -> Outlook:
        """What may follow what `decoder` has read. Raises ModelError as `pool`."""
        pool = self._leading(decoder)
        return Outlook(self, decoder, self.pool(decoder.logits()) if pool is None else pool)

    def pool(self, logits: Logits) -> Pool:
        """The pool of one step. Raises ModelError for NaN or infinitely large logits."""
        rounded = self._round(logits, self._never)
        ids = _largest(rounded, self.settings.top_k)
        return self._cut(Pool(ids, rounded[ids], self.settings.grid_bits))

    def outside(self, logits: Logits, pool: Pool) -> Iterator[Pool]:
        """The tokens that are not in `pool`, the most probable first, some at a time."""
        rounded = self._round(logits, self._never)
        rounded[pool.ids] = NEVER
        order = np.argsort(-rounded, kind="stable")
        order = order[: int((rounded > NEVER).sum())]
        for start in range(0, len(order), _FALLBACK_CHUNK):
            ids = order[start : start + _FALLBACK_CHUNK]
            yield Pool(ids, rounded[ids], self.settings.grid_bits)

    def survives(self, logits: Logits, tolerance: float, everywhere: bool = False) -> bool:
        """Whether all logits that differ from these by at most `tolerance` give the same pool.

        Args:
            logits: float[logit_width].
            tolerance: at least 0, in units of logits.
            everywhere: the tokens `outside` must be the same as well.
        """
        rounded = self._round(logits, self._never)
        # What lies lower than the last of the top k by more than a step cannot come among them.
        count = None if everywhere else self.settings.top_k
        least = rounded[_largest(rounded, count)].min(initial=_CLIP) - 1
        rivals = self._scaled(logits)[rounded >= least]
        distance = 0.5 - np.abs(rivals - np.rint(rivals))
        return bool((distance > self._scaled(tolerance)).all())

    def _leading(self, decoder: Decoder) -> Pool | None:
        """The pool from the largest logits alone; None where they do not decide it.

        Spares fetching and rounding a whole vocabulary where a decoder has them on a device.
        """
        k = self.settings.top_k
        if k is None or k + _SPARE >= len(self._never) or not hasattr(decoder, "top"):
            return None
        ids, logits = cast(TopDecoder, decoder).top(k + _SPARE)
        rounded = self._round(logits, self._never[ids])
        # Tokens that were not asked for may be as probable as the last of these, but no more.
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
        """In steps of the grid. In this order: each operation rounds, and both sides must alike."""
        at_temperature = np.asarray(logits, dtype=np.float64) / self.settings.temperature
        return at_temperature * (1 << self.settings.grid_bits)

    def _cut(self, pool: Pool) -> Pool:
        """What top-p leaves of the top k."""
        if self.settings.top_p == 1:
            return pool
        share = round(self.settings.top_p * (1 << _TOP_P_BITS))
        enough = -(-int(pool.mass.sum()) * share >> _TOP_P_BITS)
        count = int(np.searchsorted(np.cumsum(pool.mass), enough)) + 1
        return pool.keep(slice(count))


class Outlook:
    """What may come next at one place of a text. Valid until the decoder reads on.

    Attributes:
        pool: the candidates.
    """

    def __init__(self, candidates: Candidates, decoder: Decoder, pool: Pool) -> None:
        self._candidates = candidates
        self._decoder = decoder
        self._looked_outside = False
        self.pool = pool

    @property
    def logits(self) -> Logits:
        """Logits float[logit_width], the model's."""
        return self._decoder.logits()

    def outside(self) -> Iterator[Pool]:
        """The tokens that are not in the pool, the most probable first, some at a time."""
        self._looked_outside = True
        yield from self._candidates.outside(self.logits, self.pool)

    def survives(self, tolerance: float) -> bool:
        """Whether a reader whose logits differ by at most `tolerance` has the same outlook."""
        return self._candidates.survives(self.logits, tolerance, self._looked_outside)


def non_candidates(tokenizer: Tokenizer, eos_ids: Iterable[int]) -> Bools:
    """Mask bool[vocab_size]: True for ids no text may be written with (special, end, empty)."""
    mask = np.array([not tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)], dtype=bool)
    never = [i for i in (*tokenizer.special_ids, *eos_ids) if i < len(mask)]
    mask[never] = True
    return mask


def _largest(values: Ints, count: int | None) -> Ints:
    """Indices of the `count` largest values above NEVER: by value descending, then by index."""
    count = len(values) if count is None else min(count, len(values))
    least = max(np.partition(values, len(values) - count)[len(values) - count], NEVER + 1)
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: count - len(above)]
    found = np.concatenate((above, ties))
    ordered: Ints = found[np.argsort(-values[found], kind="stable")]
    return ordered
