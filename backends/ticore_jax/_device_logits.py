"""Logits after one id, which stay on their device until they are asked for."""

from __future__ import annotations

from functools import cached_property, partial

import jax
import numpy as np
import numpy.typing as npt
from jax import lax

from ticore.interfaces import Logits


class JaxLogits:
    """Logits float[vocab]."""

    def __init__(self, logits: jax.Array) -> None:
        self._logits = logits

    @cached_property
    def whole(self) -> Logits:
        """All of them, on the host and read-only."""
        return as_array(self._logits)

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The `count` largest, the largest first, NaN before all: ids int64 and logits."""
        with jax.enable_x64(self._logits.dtype == np.float64):
            values, ids = _top(self._logits, count=count)
        return np.asarray(ids, np.int64), as_array(values)


def as_array(logits: jax.Array) -> Logits:
    """`logits` as an array on the host, read-only."""
    array: Logits = np.asarray(logits)
    array.setflags(write=False)
    return array


@partial(jax.jit, static_argnames="count")
def _top(logits: jax.Array, count: int) -> tuple[jax.Array, jax.Array]:
    values, ids = lax.top_k(logits, count)
    return values, ids
