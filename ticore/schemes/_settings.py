"""Checks of the settings of schemes: ticore's own and those of other engines."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import index
from typing import Any

from .._support.checks import is_integer, is_number
from ..errors import SettingsError, shown

MAX_CONTEXT = 256
"""The longest context, in tokens; engines use 1 to 64.

All windows of a text are in memory at once, 8 bytes for each token of each window.
"""
WHY_MAX_CONTEXT = "wider windows fill the memory"
_MOST_NAMES = 100  # characters of unknown settings' names that an error repeats


MOST_BIAS = 1e30
"""What is added to a logit is below this: float32 has logits up to 3e38."""


def checked_number(name: str, value: object, *, above: float, below: float) -> float:
    """`value`, if it is a number between two limits, neither included.

    Raises:
        SettingsError: it is not.
    """
    # Compared as it is: an integer of hundreds of digits has no float.
    if not (is_number(value) and above < value < below):
        raise SettingsError(
            f"{name}: expected a number above {above:g} and below {below:g}, found {shown(value)}; "
            f"give one between them"
        )
    return float(value)


def checked_integer(
    name: str,
    value: object,
    least: int,
    most: int,
    *,
    secret: bool = False,
    why: str = "",
    advice: str = "give the engine's own setting",
) -> int:
    """`value`, if it is an integer from `least` to `most`.

    Args:
        name, value: of the setting.
        least, most: the limits, both included.
        secret: it is a key, which the error's text does not repeat.
        why: the reason for the limits, where they are not the engine's.
        advice: what to do.

    Raises:
        SettingsError: it is not.
    """
    if not (is_integer(value) and least <= value <= most):
        another = "another one" if is_integer(value) else f"a {type(value).__name__}"
        raise SettingsError(
            f"{name}: expected an integer from {least} to {most}{why and f' ({why})'}, found "
            f"{another if secret else shown(value)}; {advice}"
        )
    return index(value)


def checked_context(value: object) -> int:
    """`value`, if a context may have as many tokens, for a scheme of ticore.

    Raises:
        SettingsError: it is no integer from 1 to `MAX_CONTEXT`.
    """
    return checked_integer(
        "context", value, 1, MAX_CONTEXT, why=WHY_MAX_CONTEXT, advice="give the writer's setting"
    )


def selected_settings(
    config: Mapping[str, Any], used: Collection[str], ignored: Collection[str]
) -> dict[str, Any]:
    """The settings that detection depends on, without those that are None.

    Args:
        config: an engine's own settings.
        used: the names of those that detection depends on.
        ignored: the names of those that it does not depend on.

    Raises:
        SettingsError: there is another setting, which may change the watermark.
    """
    unknown = sorted(map(str, set(config) - set(used) - set(ignored)))
    if unknown:
        raise SettingsError(
            f"the engine's settings: expected some of {', '.join(sorted({*used, *ignored}))}, "
            f"found {', '.join(unknown)[:_MOST_NAMES]}; leave out what does not concern the "
            f"watermark"
        )
    return {name: config[name] for name in used if config.get(name) is not None}
