"""What writing by the schemes of other engines has in common.

The numbers of all tokens are computed by NumPy, with the code that detects, and then moved to the
logits. So all backends write by the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_torch_array

from .._base import Array
from .._evidence import Floats, Ints


def context_rows(context: Array | Sequence[int], width: int, logits: Array) -> Ints:
    """Contexts one below the other: int64[rows, width].

    Args:
        context: int[..., width] of any library, or a sequence of ints.
        width: of each.
        logits: float[..., n], one row for each context.
    """
    if is_torch_array(context):
        context = context.cpu()
    return np.asarray(context, dtype=np.int64).reshape(math.prod(logits.shape[:-1]), width)


def moved(numbers: npt.NDArray[Any], logits: Array) -> Array:
    """Numbers or truth values [rows, n] in the library, the type and the shape of the logits."""
    numbers = numbers.astype(np.float64)
    xp = array_namespace(logits)
    found = xp.asarray(numbers, dtype=logits.dtype, device=device(logits))
    return xp.reshape(found, logits.shape)


def gumbel_noise(uniform: Floats) -> Floats:
    """-log(-log(u)) for numbers u between 0 and 1."""
    noise: Floats = -np.log(-np.log(uniform))
    return noise


def one_of_two(first: Array, second: Array, share: float) -> Array:
    """Logits of the likeliest token of `second` with probability `share`, else that of `first`.

    Args:
        first, second: float[..., n].
        share: from 0 to 1.
    """
    xp = array_namespace(first)
    ids = xp.arange(first.shape[-1], device=device(first))
    of_first, of_second = (
        xp.astype(xp.argmax(some, axis=-1, keepdims=True) == ids, first.dtype)
        for some in (first, second)
    )
    shares = (1 - share) * of_first + share * of_second
    some = shares > 0
    return xp.where(some, xp.log(xp.where(some, shares, 1.0)), -xp.inf)
