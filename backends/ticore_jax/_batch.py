"""Several texts read side by side: the network, mapped over the rows of a batch.

Each row has a cache and a length of its own; rewinding it lowers the length, and what lies after it
is overwritten before it is read. Programs are compiled for batches of 1, 2, 4, 8, ... rows. When
rows are dropped, the others move together into the next smaller batch that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import lax

from ticore.interfaces import Logits

from ._device_logits import as_array
from ._network import Layer, Rotation
from ._runner import Runner, capacity_for, compiler_options, power_of_two

# Untyped in JAX.
_constrained: Callable[..., Any] = lax.with_sharding_constraint


class Programs:
    """What a batch runs, compiled once for all batches of a Runner.

    Layers are float[size, kv heads, capacity, head_dim]: `size` rows, some of which may be empty.
    """

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        made_of, placement = runner.made_of, runner.placement

        def placed(layers: list[Layer]) -> list[Layer]:
            where = placement.heads_of(len(layers[0][0]))
            constrained: list[Layer] = _constrained(layers, where)
            return constrained

        def read(
            weights: list[jax.Array],
            layers: list[Layer],
            turn: Rotation | None,
            ids: jax.Array,
            starts: jax.Array,
        ) -> tuple[jax.Array, list[Layer]]:
            network = made_of(weights)

            def read_one(
                token: jax.Array, start: jax.Array, layers: list[Layer]
            ) -> tuple[jax.Array, list[Layer]]:
                states, layers = network(token[None], start, layers, turn)
                return network.logits(states)[0], layers

            logits, layers = jax.vmap(read_one)(ids, starts, layers)
            return _constrained(logits, placement.whole), placed(layers)

        def put(layers: list[Layer], row: list[Layer], place: jax.Array) -> list[Layer]:
            first = jnp.zeros_like(place)

            def with_row(rows: jax.Array, row: jax.Array) -> jax.Array:
                return lax.dynamic_update_slice(rows, row[None], (place, first, first, first))

            return placed(jax.tree.map(with_row, layers, row))

        def move(layers: list[Layer], places: jax.Array, capacity: int) -> list[Layer]:
            def moved(rows: jax.Array) -> jax.Array:
                room = capacity - rows.shape[2]
                return jnp.pad(rows[places], ((0, 0), (0, 0), (0, room), (0, 0)))

            return placed(jax.tree.map(moved, layers))

        options = compiler_options()
        self._read = jax.jit(read, donate_argnames="layers", compiler_options=options)
        self._put = jax.jit(put, donate_argnames="layers", compiler_options=options)
        self._move = jax.jit(move, static_argnames="capacity", compiler_options=options)

    def empty(self, size: int, capacity: int) -> list[Layer]:
        """Layers that hold nothing."""
        runner = self.runner
        shape = size, runner.config.kv_heads, capacity, runner.config.head_dim
        where = runner.placement.heads_of(size)

        def zeros() -> jax.Array:
            return jnp.zeros(shape, runner.dtype, device=where)

        with runner.numerics():
            return [(zeros(), zeros()) for _ in range(runner.config.layers)]

    def put(self, layers: list[Layer], row: list[Layer], place: int) -> list[Layer]:
        """`layers` with the layers `row` of one text, of no more capacity, at `place`."""
        with self.runner.numerics():
            changed: list[Layer] = self._put(layers, row, np.int32(place))
        return changed

    def move(self, layers: list[Layer], places: Sequence[int], capacity: int) -> list[Layer]:
        """The rows at `places` of `layers`, with room for `capacity` positions."""
        with self.runner.numerics():
            moved: list[Layer] = self._move(layers, np.array(places, np.int32), capacity=capacity)
        return moved

    def read(
        self, layers: list[Layer], ids: npt.NDArray[np.int32], starts: npt.NDArray[np.int32]
    ) -> tuple[Logits, list[Layer]]:
        """Read one id in each row, at its position: logits float[size, vocab], and the layers."""
        runner = self.runner
        where = runner.placement.rows(len(ids))
        with runner.numerics():
            logits, layers = self._read(
                runner.weights,
                layers,
                runner.rotation(layers[0][0].shape[2]),
                jax.device_put(ids, where),
                jax.device_put(starts, where),
            )
        return np.asarray(logits), layers


class JaxBatchedForward:
    """A BatchedForward. Prompts are read one after the other, as a Decoder does."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._layers: list[Layer] = []
        self._places: dict[int, int] = {}
        self._lengths: dict[int, int] = {}

    def begin(self, prompts: Sequence[Sequence[int]]) -> list[Logits]:
        """Read the prompts of rows 0 to len(prompts) - 1: logits float[vocab] after each.

        Args:
            prompts: at least one, of at least one id each.
        """
        runner = self._programs.runner
        self._places = {row: row for row in range(len(prompts))}
        self._lengths = {row: len(ids) for row, ids in enumerate(prompts)}
        self._layers = self._programs.empty(power_of_two(len(prompts)), self._least_capacity())
        logits = []
        for row, ids in enumerate(prompts):
            cache = runner.new_cache()
            logits.append(as_array(runner.read(ids, cache)))
            self._layers = self._programs.put(self._layers, cache.layers, row)
        return logits

    def add(self, row: int, ids: Sequence[int]) -> Logits:
        """Read a prompt in a new row: logits float[vocab] after it."""
        cache = self._programs.runner.new_cache()
        logits = as_array(self._programs.runner.read(ids, cache))
        size, capacity = self._layers[0][0].shape[::2] if self._layers else (0, 0)
        self._lengths[row] = len(ids)
        if not self._places:
            size, capacity = 1, self._least_capacity()
            self._layers = self._programs.empty(size, capacity)
        else:
            self._resize(
                max(size, power_of_two(len(self._places) + 1)),
                max(capacity, self._least_capacity()),
            )
        place = min(set(range(len(self._layers[0][0]))) - set(self._places.values()))
        self._layers = self._programs.put(self._layers, cache.layers, place)
        self._places[row] = place
        return logits

    def push(self, tokens: Mapping[int, int]) -> list[Logits]:
        """Read one id in each of these rows: logits float[vocab] of each, in this order.

        In other rows a placeholder is read; their lengths do not change.
        """
        self._settle()
        size = len(self._layers[0][0])
        ids, starts = np.zeros(size, np.int32), np.zeros(size, np.int32)
        for row, place in self._places.items():
            ids[place], starts[place] = tokens.get(row, 0), self._lengths[row]
        logits, self._layers = self._programs.read(self._layers, ids, starts)
        for row in tokens:
            self._lengths[row] += 1
        return [logits[self._places[row]] for row in tokens]

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` ids of a row."""
        self._lengths[row] -= count

    def drop(self, row: int) -> None:
        """Forget a row."""
        del self._places[row], self._lengths[row]

    def _settle(self) -> None:
        """Have as many rows as are needed, and room for one more position in each."""
        capacity = self._layers[0][0].shape[2]
        self._resize(power_of_two(len(self._places)), max(capacity, self._least_capacity()))

    def _resize(self, size: int, capacity: int) -> None:
        """Have `size` rows, some of which may be unused, of `capacity` positions."""
        if (size, capacity) == self._layers[0][0].shape[::2]:
            return
        places = list(self._places.values())
        unused = [0] * (size - len(places))
        self._layers = self._programs.move(self._layers, places + unused, capacity)
        self._places = {row: place for place, row in enumerate(self._places)}

    def _least_capacity(self) -> int:
        # The pass writes one position in every row, also after the text of a row that reads
        # nothing.
        return capacity_for(max(self._lengths.values()) + 1)
