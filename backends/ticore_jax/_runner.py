"""The network compiled for few shapes, and the cache that it reads and writes.

What is read is padded up to one of a few lengths, and the cache's capacity follows from the
number of positions alone. So the same ids run through the same programs and give the same bits,
independent of what was read and rewound before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx
from jax import lax

from ticore.backend_kit.network_config import NetworkConfig, angle_tables
from ticore.interfaces import Logits

from ._device_logits import as_array
from ._network import Layer, Network, Rotation, wide
from ._placement import Placement

# Ids are read in pieces of these lengths, one by one or padded; a long prompt in pieces of the
# last, so that attention scores need that many rows and not as many as the context.
LENGTHS = (1, 16, 32, 64, 128, 256)
# Least capacity of a cache; above, it is the next power of two. No smaller than the last length.
FIRST_CAPACITY = 512
# Without this, XLA times several products on a GPU, and may choose another one at the next start.
_COMPILER_OPTIONS = {"gpu": {"xla_gpu_deterministic_ops": True}}


@dataclass
class Cache:
    """Keys and values of the positions read so far; lowering `length` forgets the last ones."""

    layers: list[Layer]
    length: int = 0

    @property
    def capacity(self) -> int:
        return self.layers[0][0].shape[1]


class Runner:
    """A network ready to run. It holds weights and programs; reading a text changes only its Cache.

    Args:
        config: of the network.
        network: its arrays are placed on the devices.
        dtype: of weights and cache.

    Attributes:
        config, dtype: as given.
        placement: where arrays lie.
        weights: the network's arrays in a flat list, which is what jit takes the quickest.
        made_of: the network of such a list, for programs that take it.
    """

    def __init__(self, config: NetworkConfig, network: Network, dtype: npt.DTypeLike) -> None:
        self.config = config
        self.dtype = np.dtype(dtype)
        self.placement = Placement(config.kv_heads)
        with self.numerics():
            graph, state = nnx.split(self.placement.place(network, dtype))
        self.weights, tree = jax.tree.flatten(state)
        self._rotations: dict[int, Rotation | None] = {}

        # Programs hold what they are made of: this, and not the Runner with all of its weights.
        def made_of(weights: list[jax.Array]) -> Network:
            return nnx.merge(graph, jax.tree.unflatten(tree, weights))

        def read(
            weights: list[jax.Array],
            layers: list[Layer],
            turn: Rotation | None,
            ids: jax.Array,
            start: jax.Array,
            count: jax.Array,
            every: bool,
        ) -> tuple[jax.Array, list[Layer]]:
            network = made_of(weights)
            states, layers = network(ids, start, layers, turn)
            if not every:
                states = lax.dynamic_slice_in_dim(states, count - 1, 1)
            logits = network.logits(states)
            return logits if every else logits[0], layers

        self.made_of = made_of
        heads, whole = self.placement.heads, self.placement.whole
        self._read = jax.jit(
            read,
            static_argnames="every",
            donate_argnames="layers",
            out_shardings=(whole, heads),
            compiler_options=compiler_options(),
        )
        self._resize = jax.jit(_resized, static_argnames="capacity", out_shardings=heads)

    def new_cache(self) -> Cache:
        """An empty cache."""
        shape = self.config.kv_heads, FIRST_CAPACITY, self.config.head_dim
        with self.numerics():
            layers = [(self._zeros(shape), self._zeros(shape)) for _ in range(self.config.layers)]
        return Cache(layers)

    def read(self, ids: Sequence[int], cache: Cache) -> jax.Array:
        """Read `ids` at the positions that follow those in `cache`, and add them to it.

        Args:
            ids: at least one, each below the vocabulary size; the context has room for all of them.

        Returns:
            Logits [vocab] after the last, float32 or float64.
        """
        for piece in _pieces(ids):
            logits = self._read_piece(piece, cache, every=False)
        return logits

    def read_all(self, ids: Sequence[int], cache: Cache) -> Logits:
        """As `read`, but the logits float[len(ids), vocab] after each of them, read-only."""
        pieces = (
            (len(piece), self._read_piece(piece, cache, every=True)) for piece in _pieces(ids)
        )
        logits = np.concatenate([as_array(rows)[:count] for count, rows in pieces])
        logits.setflags(write=False)
        return logits

    def rotation(self, capacity: int) -> Rotation | None:
        """The rotation for a cache of this capacity; None where positions are learned.

        It is made when it is needed, and has the size of the cache, or of the whole context if that
        is less: a program is compiled for the shapes of its arguments, and a table for a whole
        context may take a GB. It is never stored in less than float32.
        """
        if capacity not in self._rotations:
            self._rotations[capacity] = self._new_rotation(min(capacity, self.config.context))
        return self._rotations[capacity]

    def _new_rotation(self, positions: int) -> Rotation | None:
        if self.config.rope is None:
            return None
        tables = angle_tables(self.config.rope, self.config.head_dim, positions)
        kind, whole = wide(self.dtype), self.placement.whole
        with self.numerics():
            cos, sin = (jax.device_put(table.astype(kind), whole) for table in tables)
        return Rotation(cos, sin)

    @contextmanager
    def numerics(self) -> Iterator[None]:
        """While the block runs, JAX computes as exactly as `dtype` says; afterwards as before."""
        with jax.enable_x64(self.dtype == np.float64), jax.default_matmul_precision("highest"):
            yield

    def _read_piece(self, ids: Sequence[int], cache: Cache, every: bool) -> jax.Array:
        """Logits [vocab] after the last id; if `every`, [n, vocab] with n at least len(ids)."""
        length = next(length for length in LENGTHS if length >= len(ids))
        capacity = capacity_for(cache.length + length)
        if capacity != cache.capacity:
            with self.numerics():
                cache.layers = self._resize(cache.layers, capacity=capacity)
        padded = np.zeros(length, np.int32)
        padded[: len(ids)] = ids
        logits: jax.Array
        with self.numerics():
            logits, cache.layers = self._read(
                self.weights,
                cache.layers,
                self.rotation(cache.capacity),
                jax.device_put(padded, self.placement.rows(length)),
                np.int32(cache.length),
                np.int32(len(ids)),
                every=every,
            )
        cache.length += len(ids)
        return logits

    def _zeros(self, shape: tuple[int, ...]) -> jax.Array:
        return jnp.zeros(shape, self.dtype, device=self.placement.heads)


def _pieces(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + LENGTHS[-1]] for at in range(0, len(ids), LENGTHS[-1]))


def compiler_options() -> dict[str, Any] | None:
    """The options that every program is compiled with."""
    return _COMPILER_OPTIONS.get(jax.default_backend())


def capacity_for(length: int) -> int:
    """The capacity of a cache for `length` positions."""
    return max(FIRST_CAPACITY, power_of_two(length))


def power_of_two(least: int) -> int:
    """The first power of two that is no smaller than `least`."""
    return 1 << (least - 1).bit_length()


def _resized(layers: list[Layer], capacity: int) -> list[Layer]:
    """`layers` with room for `capacity` positions, as many of the first as fit."""

    def resized(rows: jax.Array) -> jax.Array:
        kept = rows[:, :capacity]
        return jnp.pad(kept, ((0, 0), (0, capacity - kept.shape[1]), (0, 0)))

    return [(resized(keys), resized(values)) for keys, values in layers]
