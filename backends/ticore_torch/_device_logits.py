"""Logits after one id, which stay on their device until they are asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from ticore.interfaces import Logits


class TorchLogits:
    """Logits float[width]; a copy, that nothing of the pass that made them is kept."""

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
    """On the host, of float32 at least, and read-only; of the same memory if it lies there."""
    array: Logits = widened(logits).numpy(force=True)
    array.setflags(write=False)
    return array


def widened(logits: torch.Tensor) -> torch.Tensor:
    """float64 as it is, anything else as float32."""
    return logits if logits.dtype is torch.float64 else logits.float()
