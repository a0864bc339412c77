"""From packed numbers to float32, one tensor at a time and when they are asked for.

Quantized numbers are those that the package `gguf` computes, in float32: they are the model, in
whichever dtype a network then computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import numpy.typing as npt
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from ....errors import ModelFilesError
from .._safetensors_files import StoredTensor
from .container import PackedTensor

Floats = npt.NDArray[np.float32]

_PLAIN = {
    GGMLQuantizationType.F32: "F32",
    GGMLQuantizationType.F16: "F16",
    GGMLQuantizationType.BF16: "BF16",
}
_AT_ONCE = 1 << 20  # numbers; the package takes several times the memory of its result


@dataclass(frozen=True)
class Layout:
    """How a tensor of llama.cpp becomes that of the Hugging Face checkpoint.

    Attributes:
        undo: from the numbers of the one to those of the other.
        transposes: whether `undo` gives the transposed shape, else the same shape.
        rows: how many there must be, or a multiple of it.
    """

    undo: Callable[[Floats], Floats]
    transposes: bool = False
    rows: int = 1


def stored_tensor(where: str, packed: PackedTensor, layout: Layout | None = None) -> StoredTensor:
    """The tensor as runners take it; nothing is unpacked yet.

    Args:
        where: the file and the tensor's name in it, for the error's text.
        packed: as it lies in the file.
        layout: its layout in the file; None if it is that of the checkpoint.

    Raises:
        ModelFilesError: the package `gguf` cannot unpack this type, or the layout asks for another
            number of rows.
    """
    raw = packed.data.reshape(-1)
    kind = packed.kind.name
    if layout is None and packed.kind in _PLAIN:
        return StoredTensor(_PLAIN[packed.kind], packed.shape, raw, kind=kind)
    if not _can_unpack(packed.kind):
        raise ModelFilesError(
            f"{where}: expected numbers in a type that the package gguf can unpack, found {kind}; "
            f"use a file with another quantization, such as Q4_K_M or Q8_0"
        )
    if layout is not None and packed.shape[0] % layout.rows:
        raise ModelFilesError(
            f"{where}: expected a multiple of {layout.rows} rows, found {packed.shape[0]}; "
            f"fetch the file again, or use another"
        )
    shape = packed.shape[::-1] if layout is not None and layout.transposes else packed.shape
    return StoredTensor("F32", shape, raw, partial(_unpack, packed, layout), kind)


@cache
def _can_unpack(kind: GGMLQuantizationType) -> bool:
    """Whether one block of zeros can be unpacked; the package has no list."""
    _, size = GGML_QUANT_SIZES[kind]
    try:
        dequantize(np.zeros((1, size), np.uint8), kind)
    except NotImplementedError:
        return False
    return True


def unpacked(packed: PackedTensor) -> Floats:
    """The numbers float32[shape], in the layout of the file."""
    block, size = GGML_QUANT_SIZES[packed.kind]
    rows, row = packed.data.shape
    found = np.empty((rows, row // size * block), np.float32)
    step = max(1, _AT_ONCE // found.shape[1])
    with np.errstate(all="ignore"):  # a damaged scale may be NaN or infinite
        for start in range(0, rows, step):
            found[start : start + step] = dequantize(packed.data[start : start + step], packed.kind)
    return found.reshape(packed.shape)


def _unpack(
    packed: PackedTensor, layout: Layout | None, raw: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """`raw`, which is the data of `packed`, as the bytes of float32 numbers."""
    found = unpacked(packed)
    if layout is not None:
        found = np.ascontiguousarray(layout.undo(found))
    return found.reshape(-1).view(np.uint8)


def halves_of_heads(heads: int) -> Layout:
    """Of queries or keys, or their biases.

    A head turns pairs of its rows. transformers pairs a row of the first half with one of the
    second; llama.cpp stores the two side by side.

    Args:
        heads: how many there are, each with an even number of rows.

    >>> halves_of_heads(1).undo(np.arange(6, dtype=np.float32)).tolist()
    [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]
    """
    return Layout(partial(_halves, heads), rows=2 * heads)


def _halves(heads: int, numbers: Floats) -> Floats:
    pairs = numbers.reshape(heads, -1, 2, math.prod(numbers.shape[1:]))
    return pairs.swapaxes(1, 2).reshape(numbers.shape)


LESS_ONE = Layout(lambda numbers: numbers - np.float32(1))
"""Of a norm that stores what is to be added to one, where llama.cpp stores the sum."""

TRANSPOSED = Layout(np.transpose, transposes=True)
"""Of a matrix with one row for each input, as GPT-2 has it."""
