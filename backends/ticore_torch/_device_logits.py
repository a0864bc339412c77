"""Logits after one id, which stay on their device until they are asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from ticore.interfaces import Logits


class TorchLogits:
    """Logits float[width]; a copy, so that the pass that made them can be freed."""

    def __init__(self, logits: torch.Tensor) -> None:
        self._logits = widened(logits).clone()

    @cached_property
    def whole(self) -> Logits:
        """All of them, on the host and read-only."""
        return as_array(self._logits)

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The `count` largest, the largest first, NaN before all: ids int64 and logits."""
        values, ids = torch.topk(self._logits, count)
        return ids.numpy(force=True), as_array(values)


def as_array(logits: torch.Tensor) -> Logits:
    """`logits` as a read-only array on the host, float64 or float32.

    It shares memory with `logits` if they are such numbers on the host already.
    """
    array: Logits = widened(logits).numpy(force=True)
    array.setflags(write=False)
    return array


def widened(logits: torch.Tensor) -> torch.Tensor:
    """float64 as it is, anything else as float32."""
    return logits if logits.dtype is torch.float64 else logits.float()
