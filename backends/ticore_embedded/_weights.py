"""Stored tensors in, arrays ready to multiply out.

Every tensor's presence, type and shape is checked before any number is converted: an array is made
when its tensors have been checked, and filled when all tensors have been.

Matrices have one row per output: reading one token multiplies a row vector by the transpose, which
is one dot product per row, at the speed of memory. Matrices that read the same input are stacked,
for fewer and larger products.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ticore.backend_kit.checkpoint import StoredTensor, Tensors

from ._layers import Array

# Numbers that are converted at once: what lies between file and array stays in the CPU's cache.
_PIECE = 1 << 18


class Arrays:
    """Makes the arrays of a network.

    Args:
        tensors: as they are stored.
        dtype: float32 or float64, to which everything is converted.
    """

    def __init__(self, tensors: Tensors, dtype: npt.DTypeLike) -> None:
        self.tensors = tensors
        self.dtype = np.dtype(dtype)
        self._unfilled: list[tuple[StoredTensor, Array, float]] = []

    def stacked(
        self,
        parts: Mapping[str, tuple[int, ...]],
        *,
        transposed: bool = False,
        plus: float = 0.0,
    ) -> Array:
        """An array of tensors one below the other; it has no numbers before `fill`.

        Args:
            parts: name and shape of each.
            transposed: the tensors have one column per output.
            plus: added to each number.

        Raises:
            ModelFilesError: a tensor is missing, of another shape, or of a type other than
                float16, bfloat16 and float32.
        """
        stored = [self.tensors.take(name, shape, _CODES) for name, shape in parts.items()]
        shapes = [shape[::-1] if transposed else shape for shape in parts.values()]
        rows = [shape[0] for shape in shapes]
        made: Array = np.empty((sum(rows), *shapes[0][1:]), self.dtype)
        places = np.split(made, np.cumsum(rows)[:-1])
        for tensor, place in zip(stored, places, strict=True):
            self._unfilled.append((tensor, place.T if transposed else place, plus))
        return made

    def fill(self) -> None:
        """Give all arrays that were made their numbers."""
        while self._unfilled:
            tensor, place, plus = self._unfilled.pop()
            stored = tensor.data.view(_STORED_TYPES[tensor.code]).reshape(tensor.shape)
            step = max(1, _PIECE * len(stored) // stored.size)
            for at in range(0, len(stored), step):
                place[at : at + step] = _floats(stored[at : at + step])
            if plus:
                place += plus


def _floats(numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """`numbers` in a type of NumPy's: it has no bfloat16, which is the upper half of a float32."""
    if numbers.dtype != _STORED_TYPES["BF16"]:
        return numbers
    return (numbers.astype(np.uint32) << 16).view(np.float32)


_STORED_TYPES: dict[str, np.dtype[Any]] = {
    "BF16": np.dtype("<u2"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
}
_CODES = _STORED_TYPES.keys()
