"""Pools computed in the plain way: all logits are rounded, then partitioned and sorted.

`ticore.candidates` gives the same pools without rounding a whole vocabulary. This is what it is
compared with, by the tests and in speed.
"""

from __future__ import annotations

import numpy as np

from ticore.candidates import Candidates, Pool
from ticore.errors import ModelError
from ticore.interfaces import Logits

_NEVER = np.int64(-(2**62))
_CLIP = 2**40


class PlainCandidates(Candidates):
    """The same pools as those of `Candidates`, in the plain way."""

    def pool(self, logits: Logits) -> Pool:
        settings = self.settings
        scaled = np.asarray(logits, dtype=np.float64) / settings.temperature
        scaled = scaled * (1 << settings.grid_bits)
        if np.isnan(scaled).any() or np.isposinf(scaled).any():
            raise ModelError("expected finite logits, found NaN or infinity")
        rounded = np.clip(np.rint(scaled), -_CLIP, _CLIP).astype(np.int64)
        rounded[self._never | np.isneginf(scaled)] = _NEVER
        count = min(settings.top_k or len(rounded), len(rounded))
        least = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
        least = max(least, _NEVER + 1)
        above = np.flatnonzero(rounded > least)
        ties = np.flatnonzero(rounded == least)[: count - len(above)]
        found = np.concatenate((above, ties))
        found = found[np.argsort(-rounded[found], kind="stable")]
        return self._cut(Pool(found, rounded[found], settings.grid_bits))
