"""The mesh of devices, and which part of each array lies where. The same on CPU, GPU and TPU.

    model   each layer's heads, the feed-forward part and the vocabulary are shared out
    data    the rows of a prompt, of a text to score, or of a batch of texts are shared out

A dimension that a mesh axis does not divide is kept whole on every device.
"""

from __future__ import annotations

import math

import jax
import numpy as np
import numpy.typing as npt
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ._network import Network

DATA, MODEL = "data", "model"


class Placement:
    """A mesh of this process's devices: along `model`, as many as can share the heads evenly."""

    def __init__(self, kv_heads: int) -> None:
        devices = np.array(jax.local_devices())
        sharing = math.gcd(len(devices), kv_heads)
        self.mesh = Mesh(devices.reshape(-1, sharing), (DATA, MODEL))

    @property
    def whole(self) -> NamedSharding:
        """An array that every device holds."""
        return self._sharding()

    @property
    def heads(self) -> NamedSharding:
        """Keys or values float[kv heads, capacity, head_dim]."""
        return self._sharding(MODEL)

    def heads_of(self, count: int) -> NamedSharding:
        """Keys or values float[count, kv heads, capacity, head_dim] of several texts."""
        return self._sharding(DATA if count % self.mesh.shape[DATA] == 0 else None, MODEL)

    def rows(self, count: int) -> NamedSharding:
        """An array of `count` rows."""
        return self._shared(DATA, (count,), 0)

    def place(self, network: Network, dtype: npt.DTypeLike) -> Network:
        """`network` with its arrays in `dtype` and on the devices."""
        graph, state = nnx.split(network)
        leaves = nnx.to_flat_state(state)
        placed = [(path, self._placed(leaf, dtype)) for path, leaf in leaves]
        return nnx.merge(graph, nnx.from_flat_state(placed))

    def _placed(self, leaf: nnx.Variable[jax.Array], dtype: npt.DTypeLike) -> object:
        # A copy: the device may go on using this memory, and a file may change.
        array = np.array(leaf[...], dtype, order="C")
        sharding = self._shared(MODEL, array.shape, leaf.get_metadata()["split"])
        return leaf.replace(jax.device_put(array, sharding))

    def _shared(self, axis: str, shape: tuple[int, ...], dimension: int | None) -> NamedSharding:
        if dimension is None or shape[dimension] % self.mesh.shape[axis]:
            return self.whole
        return self._sharding(*[None] * dimension, axis)

    def _sharding(self, *axes: str | None) -> NamedSharding:
        return NamedSharding(self.mesh, PartitionSpec(*axes))  # type: ignore[no-untyped-call]  # untyped in JAX
