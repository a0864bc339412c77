"""Token ids: checked, cut into windows, and as the words that `keyed` works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_namespace, is_torch_namespace

from ..errors import SettingsError
from .base import Array
from .evidence import Ints

MOST_TOKENS = 1 << 32
"""Token ids lie below: `draws` keeps one in 32 bits."""

Whole = TypeVar("Whole", Ints, npt.NDArray[np.uint32])
SomeIds = Sequence[int] | npt.NDArray[np.integer[Any]]


def token_ids(ids: SomeIds, size: int = MOST_TOKENS, least: int = 0) -> Ints:
    """int64[n]; SettingsError for anything but one row of integers from `least` to below `size`."""
    found = np.asarray(ids)
    if found.size == 0 and found.ndim == 1:
        return np.empty(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise SettingsError(
            f"ids: expected one row of integers, found {found.dtype} of shape {found.shape}; read "
            f"each text by itself"
        )
    low, high = int(found.min()), int(found.max())
    if low < least or high >= size:
        raise SettingsError(
            f"ids: expected token ids from {least} to {size - 1}, found {low} to {high}; use the "
            f"writer's tokenizer and, where the vocabulary's size is a setting, its model's"
        )
    return found.astype(np.int64)


def windows(ids: Whole, width: int) -> Whole:
    """[n - width + 1, width], or [0, width]: each `width` tokens in a row; not to be written to."""
    if len(ids) < width:
        return np.empty((0, width), ids.dtype)
    ids = np.ascontiguousarray(ids)
    shape = len(ids) - width + 1, width
    # What `sliding_window_view` gives, which checks for 15 microseconds first.
    found = np.ndarray(shape, ids.dtype, ids, strides=(ids.itemsize, ids.itemsize))
    found.flags.writeable = False
    return found


def columns(context: Array | Sequence[int], width: int, like: Array) -> list[Any]:
    """The `width` tokens before, each as ids that the arithmetic of `words` takes.

    Args:
        context: int[..., width], or a sequence of ints.

    Returns:
        Python integers where these are given, else arrays int[..., 1] in the library of `like`.
    """
    if isinstance(context, Sequence) and all(isinstance(t, int | np.integer) for t in context):
        return [int(token) for token in context[:width]]
    words = words_like(context, like)[..., None, :]
    return [words[..., at] for at in range(width)]


def words_like(tokens: Array | Sequence[int], like: Array) -> Array:
    """Token ids as words in the library of `like`, on its device."""
    xp = array_namespace(like)
    name = "int32" if is_torch_namespace(xp) or is_jax_namespace(xp) else "uint32"
    return xp.asarray(tokens, dtype=getattr(xp, name), device=device(like))
