"""Keys and values of the positions of a text, with room to grow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ticore.backend_kit.network_config import NetworkConfig

from ._layers import Array

# Positions that a new cache has room for; it doubles whenever it is full.
FIRST_CAPACITY = 64


class LayerCache:
    """What one layer keeps of a text.

    Attributes:
        window: how many of the last positions a position sees, itself among them; None: all.
        length: number of positions read; `rewind` lowers it.
        keys, values: float[kv heads, capacity, head_dim]. Row i is position `first` + i.
        first: the first position that is kept. It is above 0 only in a layer with a window.
    """

    def __init__(self, config: NetworkConfig, window: int | None, dtype: npt.DTypeLike) -> None:
        self.window = window
        self._limit = config.context
        room = min(FIRST_CAPACITY, self._limit)
        shape = config.kv_heads, room, config.head_dim
        self.first = 0
        self.length = 0
        self.keys: Array = np.empty(shape, dtype)
        self.values: Array = np.empty(shape, dtype)

    def add(self, keys: Array, values: Array) -> None:
        """Add as many positions as `keys` and `values` float[kv heads, n, head_dim] have."""
        start = self.length - self.first
        end = start + keys.shape[1]
        self._reserve(end)
        self.keys[:, start:end] = keys
        self.values[:, start:end] = values
        self.length += keys.shape[1]

    def seen_by(self, rows: range) -> tuple[Array, Array]:
        """Keys and values of the positions up to the last of `rows` that one of them sees.

        Slices with the same number of rows give the same bits at any capacity.

        Returns:
            float[kv heads, seen, head_dim] each.
        """
        first = self.first if self.window is None else max(0, rows.start - self.window + 1)
        seen = slice(first - self.first, rows.stop - self.first)
        return self.keys[:, seen], self.values[:, seen]

    def rewind(self, count: int) -> None:
        """Forget the last `count` positions."""
        self.length -= count

    def settle(self) -> None:
        """Forget what lies before the window of the next position.

        After this, nothing that was read before is rewound.
        """
        if self.window is None:
            return
        end = self.length - self.first
        kept = min(end, self.window - 1)
        if kept < end:
            for rows in (self.keys, self.values):
                rows[:, :kept] = rows[:, end - kept : end]
            self.first = self.length - kept

    def _reserve(self, rows: int) -> None:
        capacity = self.keys.shape[1]
        if rows > capacity:
            capacity = min(max(rows, 2 * capacity), self._limit)
            self.keys, self.values = _grown(self.keys, capacity), _grown(self.values, capacity)


class Cache:
    """What all layers keep of a text."""

    def __init__(self, config: NetworkConfig, dtype: npt.DTypeLike) -> None:
        self.layers = [LayerCache(config, window, dtype) for window in config.windows]

    @property
    def length(self) -> int:
        """Number of positions read."""
        return self.layers[0].length

    def rewind(self, count: int) -> None:
        """Forget the last `count` positions."""
        for layer in self.layers:
            layer.rewind(count)

    def settle(self) -> None:
        """Forget what no position to come will see. What was read so far is never rewound."""
        for layer in self.layers:
            layer.settle()


def _grown(rows: Array, capacity: int) -> Array:
    heads, length, size = rows.shape
    grown: Array = np.empty((heads, capacity, size), rows.dtype)
    grown[:, :length] = rows
    return grown
