"""Checks of settings: of our schemes, and of other engines'."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..errors import SettingsError, shown

MOST_CONTEXT = 256
"""How many tokens before another one may decide on it; engines look at 1 to 64.

All windows of a text are in memory at once: 8 bytes for each of these tokens, per token.
"""
MOST_WHY = "wider windows fill the memory"
_NAMES = 100  # characters of unknown settings' names that an error's text repeats


def a_number(name: str, value: object, *, above: float, below: float) -> float:
    """`value`, if it is a number between the two, neither included; SettingsError if not."""
    is_one = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    # Compared as it is: an integer of hundreds of digits is no float.
    if not is_one or not above < value < below:  # type: ignore[operator]
        raise SettingsError(
            f"{name}: expected a number above {above:g} and below {below:g}, found {shown(value)}; "
            f"give one between them"
        )
    return float(value)  # type: ignore[arg-type]


def an_integer(
    name: str, value: object, least: int, most: int, *, secret: bool = False, why: str = ""
) -> int:
    """`value`, if it is an integer from `least` to `most`; SettingsError if not.

    Args:
        secret: it is a key, which the error's text does not repeat.
        why: the reason for the limits, where it is not the engine's.
    """
    is_one = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_one or not least <= int(value) <= most:  # type: ignore[call-overload]
        another = f"a {type(value).__name__}" if not is_one else "another one"
        raise SettingsError(
            f"{name}: expected an integer from {least} to {most}{why and f' ({why})'}, found "
            f"{another if secret else shown(value)}; give the engine's own setting"
        )
    return int(value)  # type: ignore[call-overload, no-any-return]


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
            f"found {', '.join(unknown)[:_NAMES]}; leave out what does not concern the watermark"
        )
    return {name: config[name] for name in read if config.get(name) is not None}
