"""Checks of settings, and tokens as the words that `keyed` works on."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_namespace, is_torch_namespace

from ..errors import SettingsError
from .base import Array

Words = npt.NDArray[np.uint32]


def require_number(name: str, value: object, *, above: float, below: float) -> None:
    """Raises SettingsError unless `value` is a number between the two."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not (number and above < value < below):  # type: ignore[operator]  # it is a number
        raise SettingsError(
            f"{name}: expected a number above {above:g} and below {below:g}, found {value!r}"
        )


def words_like(tokens: Array | Sequence[int], like: Array) -> Array:
    """Token ids as the integers that `keyed` takes in the library of `like`, on its device."""
    xp = array_namespace(like)
    name = "int64" if is_torch_namespace(xp) else "int32" if is_jax_namespace(xp) else "uint32"
    kind = getattr(xp, name)
    return xp.asarray(tokens, dtype=kind, device=device(like))


def windows(
    ids: Sequence[int] | npt.NDArray[np.integer[Any]], context: int, vocab_size: int
) -> tuple[Words, Words, npt.NDArray[np.int64]]:
    """Every token that has `context` tokens before it.

    Returns:
        The tokens before each, uint32[n, context]; the tokens, uint32[n]; where they stand,
        int64[n].

    Raises SettingsError for ids that the vocabulary does not have.
    """
    given = np.asarray(ids, dtype=np.int64)
    if given.ndim != 1:
        raise SettingsError(f"ids: expected one list of token ids, found shape {given.shape}")
    if len(given) and not 0 <= int(given.min()) <= int(given.max()) < vocab_size:
        raise SettingsError(
            f"ids: expected ids from 0 to {vocab_size - 1}, found {int(given.min())} to "
            f"{int(given.max())}; use the tokenizer that the text was written with"
        )
    words = given.astype(np.uint32)
    if len(words) <= context:
        nothing = np.zeros(0, dtype=np.uint32)
        return nothing.reshape(0, context), nothing, np.zeros(0, dtype=np.int64)
    before = np.lib.stride_tricks.sliding_window_view(words, context + 1)[:, :context]
    return before, words[context:], np.arange(context, len(words), dtype=np.int64)
