"""Token ids: checked, cut into windows, and as the words that schemes compute with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_namespace, is_torch_namespace

from ..errors import SettingsError
from ._base import Array
from ._evidence import Ints

ID_LIMIT = 1 << 32
"""Token ids are below this: `draw_ids` has 32 bits for each."""

AnyInts = TypeVar("AnyInts", Ints, npt.NDArray[np.uint32])
SomeIds = Sequence[int] | npt.NDArray[np.integer[Any]]


def as_row(ids: SomeIds) -> npt.NDArray[Any]:
    """Ids as an array of whatever shape and type they are.

    Raises:
        SettingsError: they are lists of different lengths.
    """
    try:
        return np.asarray(ids)
    except ValueError:
        raise SettingsError(
            "ids: expected one row of integers, found lists of different lengths; read each text "
            "by itself"
        ) from None


def token_ids(ids: SomeIds, size: int = ID_LIMIT, least: int = 0) -> Ints:
    """Token ids as int64[n].

    Args:
        ids: int[n].
        size: all ids must be below.
        least: the lowest id that is allowed.

    Raises:
        SettingsError: `ids` is something else, or an id is out of range.
    """
    found = as_row(ids)
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
            f"writer's tokenizer and, if you give vocab_size, that of the writer's model"
        )
    return found.astype(np.int64)


def windows(ids: AnyInts, width: int) -> AnyInts:
    """All runs of `width` neighbouring ids: [n - width + 1, width], or [0, width]; read-only."""
    if len(ids) < width:
        return np.empty((0, width), ids.dtype)
    ids = np.ascontiguousarray(ids)
    shape = len(ids) - width + 1, width
    # The result of `sliding_window_view`, which spends 15 microseconds on checks.
    found = np.ndarray(shape, ids.dtype, ids, strides=(ids.itemsize, ids.itemsize))
    found.flags.writeable = False
    return found


def context_columns(context: Array | Sequence[int], width: int, like: Array) -> list[Any]:
    """The `width` tokens of a context, each as ids that `_word_arithmetic` takes.

    Args:
        context: int[..., width], or a sequence of ints.
        width: how many.
        like: an array of the library to compute in.

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
