"""What a reader is given, checked: its settings and a text's token ids."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError
from ..evidence import Ints

MOST_TOKENS = 1 << 32
"""Token ids lie below: `Evidence` keeps one in 32 bits."""

SomeIds = Sequence[int] | npt.NDArray[np.integer[Any]]


def an_integer(name: str, value: object, least: int, most: int) -> int:
    """`value`, if it is an integer from `least` to `most`; SettingsError if not."""
    is_one = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_one or not least <= int(value) <= most:  # type: ignore[call-overload]
        raise SettingsError(
            f"{name}: expected an integer from {least} to {most}, found {value!r}; give the "
            f"engine's own setting"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


def a_share(name: str, value: object) -> float:
    """`value`, if it is a number between 0 and 1, neither included; SettingsError if not."""
    is_one = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not is_one or not 0 < float(value) < 1:  # type: ignore[arg-type]
        raise SettingsError(
            f"{name}: expected a number above 0 and below 1, found {value!r}; give the engine's "
            f"own setting"
        )
    return float(value)  # type: ignore[arg-type]


def a_bias(name: str, value: object) -> float:
    """`value`, if it is a finite number above 0; SettingsError if not."""
    is_one = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not is_one or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise SettingsError(
            f"{name}: expected a finite number above 0, found {value!r}; with any other no token "
            f"is preferred, and there is nothing to read"
        )
    return float(value)  # type: ignore[arg-type]


def chosen(
    config: Mapping[str, Any], read: Collection[str], ignored: Collection[str]
) -> dict[str, Any]:
    """The settings that a reader reads, without those that are None.

    Raises SettingsError for a setting that is neither read nor among those that detection does not
    depend on: it may change the watermark.
    """
    unknown = sorted(set(config) - set(read) - set(ignored))
    if unknown:
        raise SettingsError(
            f"the engine's settings: expected some of {', '.join(sorted({*read, *ignored}))}, "
            f"found {', '.join(unknown)}; leave out what does not concern the watermark"
        )
    return {name: config[name] for name in read if config.get(name) is not None}


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


def windows(ids: Ints, width: int) -> Ints:
    """int64[n - width + 1, width], or int64[0, width]: each `width` tokens in a row."""
    if len(ids) < width:
        return np.empty((0, width), np.int64)
    return np.lib.stride_tricks.sliding_window_view(ids, width)
