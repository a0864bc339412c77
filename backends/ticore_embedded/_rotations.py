"""Rotary embeddings: the angles by which heads are turned, for as many positions as texts have.

A table for the whole context would take 1 GB where a config states a million positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ticore.backend_kit.network_config import Rope, angle_tables

from ._layers import Array

# Positions whose angles are computed in one call. The blocks are always the same, so that the
# numbers of a position are the same bits, independent of the texts that came before.
BLOCK = 512


class Turn(NamedTuple):
    """Turns each head by the angles of its position.

    Hugging Face's layout: number i of the first half and number i of the second are one pair.

    Attributes:
        cos, sin: of the angles of each position, float[n, 1, head_dim / 2].
    """

    cos: Array
    sin: Array

    def __call__(self, heads: Array) -> Array:
        """`heads` float[n, heads, head_dim], turned."""
        half = heads.shape[-1] // 2
        left, right = heads[..., :half], heads[..., half:]
        cos, sin = self
        return np.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)


class Rotations:
    """Cosines and sines of the angles of each position.

    Args:
        rope: the variant.
        head_dim: width of a head.
        dtype: of the tables. Angles are computed in float64 for each.
    """

    def __init__(self, rope: Rope, head_dim: int, dtype: npt.DTypeLike) -> None:
        self._rope = rope
        self._head_dim = head_dim
        self._dtype = np.dtype(dtype)
        # Replaced as a whole: another thread may be reading them.
        self._tables = self._block(0)

    def at(self, positions: Sequence[int] | slice) -> Turn:
        """The turn of heads at `positions`."""
        end = positions.stop if isinstance(positions, slice) else max(positions) + 1
        tables = self._tables
        if end > len(tables.cos):
            tables = self._tables = self._grown(tables, end)
        return Turn(tables.cos[positions], tables.sin[positions])

    def _grown(self, tables: Turn, end: int) -> Turn:
        """`tables` with twice as many positions, or up to `end` if that is more."""
        done = len(tables.cos)
        starts = range(done, max(end, 2 * done), BLOCK)
        blocks = [tables, *map(self._block, starts)]
        return Turn(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    def _block(self, start: int) -> Turn:
        tables = angle_tables(self._rope, self._head_dim, start + BLOCK, start)
        return Turn(*(table.astype(self._dtype)[:, None] for table in tables))
