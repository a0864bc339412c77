"""Rotary embeddings: the angles by which heads are turned, for as many positions as texts have.

A table for the whole context would take 1 GB where a config states a million positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ._config import LlamaConfig
from ._weights import Array

# Positions whose angles are computed in one call. The blocks are always the same, so that the
# numbers of a position are the same bits, independent of the texts that came before.
BLOCK = 512


class Rotations:
    """Cosines and sines of the angles of each position.

    Angles are computed in float64 for every `dtype`: at position 2000 a float32 angle is already
    wrong by 1e-4.

    Args:
        config: of the network.
        dtype: of the tables.
    """

    def __init__(self, config: LlamaConfig, dtype: npt.DTypeLike) -> None:
        pairs = np.arange(0, config.head_dim, 2, dtype=np.float64)
        self._frequencies = config.rope_theta ** (-pairs / config.head_dim)
        self._dtype = np.dtype(dtype)
        # Replaced as a whole: another thread may be reading them.
        self._tables = self._block(0)

    def at(self, positions: Sequence[int] | slice) -> tuple[Array, Array]:
        """Cosines and sines of `positions`, float[n, 1, head_dim / 2] each."""
        end = positions.stop if isinstance(positions, slice) else max(positions) + 1
        tables = self._tables
        if end > len(tables[0]):
            tables = self._tables = self._grown(tables, end)
        cos, sin = tables
        return cos[positions], sin[positions]

    def _grown(self, tables: tuple[Array, Array], end: int) -> tuple[Array, Array]:
        """`tables` with twice as many positions, or up to `end` if that is more."""
        done = len(tables[0])
        starts = range(done, max(end, 2 * done), BLOCK)
        blocks = [tables, *map(self._block, starts)]
        cos, sin = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return cos, sin

    def _block(self, start: int) -> tuple[Array, Array]:
        # An absurd rope_theta gives infinite angles, and these give NaN logits, which are refused.
        with np.errstate(over="ignore", invalid="ignore"):
            angles = np.outer(np.arange(start, start + BLOCK), self._frequencies)[:, None]
            return np.cos(angles).astype(self._dtype), np.sin(angles).astype(self._dtype)
