"""Checks of arguments, with the same error texts everywhere.

Settings also come from files and from command lines, so no check relies on a declared type.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from operator import index
from typing import Any, Protocol, SupportsIndex, TypeGuard, TypeVar, cast

from ..errors import CapacityError, PromptError, SettingsError, WrongTypeError, shown

_T = TypeVar("_T")

# Logits divided by less pass what integer weights or float32 can tell apart, and all tokens tie.
LEAST_TEMPERATURE = 1e-6


def require(holds: bool, name: str, expected: str, found: object) -> None:
    """Refuse a setting that is not as expected.

    Args:
        holds: whether it is.
        name: of the setting.
        expected: what it should be, such as `a non-empty text`.
        found: its value, which the error repeats in short.

    Raises:
        SettingsError: `holds` is False.

    >>> require(0 > 1, "top_k", "an integer of at least 1", 0)
    Traceback (most recent call last):
    ...
    ticore.errors.SettingsError: top_k: expected an integer of at least 1, found 0
    """
    if not holds:
        raise SettingsError(f"{name}: expected {expected}, found {shown(found)}")


def require_one_of(name: str, found: object, known: Collection[_T]) -> _T:
    """`found`, if it is one of the known values.

    Raises:
        SettingsError: it is not; the text lists the known values.
    """
    # Not every value can be hashed, so `known` may not be a set.
    require(found in tuple(known), name, f"one of {', '.join(map(str, known))}", found)
    return cast(_T, found)


def require_integer(name: str, found: object, least: int, most: int | None = None) -> int:
    """`found` as a Python integer, if it is one from `least` to `most`. NumPy's are taken, too.

    Raises:
        SettingsError: it is not.
    """
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    fits = is_integer(found) and least <= found and (most is None or found <= most)
    require(fits, name, f"an integer {limits}", found)
    return index(cast(int, found))


def integer(name: str, found: SupportsIndex) -> int:
    """`found` as a Python integer; what follows need not fear NumPy's, whose -x may be positive.

    Raises:
        WrongTypeError: it is not an integer.
    """
    try:
        return index(found)
    except TypeError:
        raise WrongTypeError(f"{name}: expected an integer, found {shown(found)}") from None


def require_number(name: str, found: object, *, above: float, most: float = math.inf) -> float:
    """`found` as a float, if it is a finite number above `above` and at most `most`.

    Raises:
        SettingsError: it is not.
    """
    limits = f"finite number above {above:g}"
    if most != math.inf:
        limits = f"number above {above:g} and at most {most:g}"
    # An integer of hundreds of digits is compared as it is, and is too large for a float.
    fits = is_number(found) and above < found <= most and _is_finite(found)
    require(fits, name, f"a {limits}", found)
    return float(cast(float, found))


def python_number(found: object) -> Any:
    """A number of NumPy, or a fraction, as one that JSON has; anything else as it is."""
    if not isinstance(found, Real):
        return found
    make = getattr(found, "item", None)  # NumPy takes a while to import
    if callable(make):
        return make()
    if isinstance(found, int | float):
        return found
    return int(found) if isinstance(found, Integral) else float(found)


def require_type(name: str, found: object, kind: type[_T], advice: str) -> _T:
    """`found`, if it is of a type. Raises WrongTypeError."""
    if not isinstance(found, kind):
        raise WrongTypeError(
            f"{name}: expected {kind.__name__}, found {type(found).__name__}; {advice}"
        )
    return found


def require_temperature(found: object) -> float:
    """`found` as a float, if it is a finite number of at least `LEAST_TEMPERATURE`.

    Raises:
        SettingsError: it is not.
    """
    # A float32 of NumPy cannot be compared with the largest float, and integers may be larger.
    value = float(found) if is_number(found) and not isinstance(found, Integral) else found
    fits = is_number(value) and LEAST_TEMPERATURE <= value <= sys.float_info.max
    advice = "for the likeliest token alone, which hides no message, keep the top 1"
    what = f"a finite number of at least {LEAST_TEMPERATURE:g} ({advice})"
    require(fits, "temperature", what, found)
    return float(cast(float, found))


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer, also of NumPy; True and False are not integers here."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, also of NumPy; True and False are not numbers here."""
    return isinstance(value, Real) and not isinstance(value, bool)


class HasLimits(Protocol):
    """A model, as far as its limits go."""

    @property
    def logit_width(self) -> int:
        """Number of logits: ids are below it."""
        ...

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read."""
        ...


def listed(found: Iterable[_T], of: str, advice: str) -> list[_T]:
    """What was given as several, as a list.

    Args:
        found: any iterable but one text, whose letters would be taken for texts.
        of: what it should hold, such as `texts`.
        advice: what to do with one of them.

    Raises:
        WrongTypeError: it is one text, or no iterable.
    """
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        raise WrongTypeError(f"expected a list of {of}, found one {type(found).__name__}; {advice}")
    return list(found)


def checked_ids(ids: Iterable[int], width: int) -> list[int]:
    """`ids` as Python integers.

    Raises:
        SettingsError: an id is negative, or is not below `width`.
        WrongTypeError: an id is not an integer; or `ids` is a text, bytes, an array of truth values
            or one of several rows. Bytes and truth values are integers too, but not token ids.
    """
    if isinstance(ids, str | bytes | bytearray):
        raise WrongTypeError(
            f"expected token ids, or a text (str) where one is taken, found "
            f"{type(ids).__name__}; decode bytes first, or encode a text with the tokenizer"
        )
    are_truths = "bool" in str(getattr(ids, "dtype", ""))
    if are_truths or (isinstance(ids, list | tuple) and bool in set(map(type, ids))):
        raise WrongTypeError("expected token ids, found truth values; give the ids of a mask")
    shape = getattr(ids, "shape", (1,))
    if len(shape) != 1:
        raise WrongTypeError(
            f"expected token ids in one row, found an array of shape {tuple(shape)}"
        )
    try:
        checked = list(map(index, ids))
    except TypeError as error:
        raise WrongTypeError(f"expected token ids that are integers: {error}") from None
    if checked and not 0 <= min(checked) <= max(checked) < width:
        found = next(token for token in checked if not 0 <= token < width)
        raise SettingsError(
            f"expected token ids from 0 to {width - 1}, found {found}; "
            f"use the ids of the model's own tokenizer"
        )
    return checked


def require_prompt_fits(count: int, context_length: int) -> None:
    """Refuse a prompt that is longer than the context.

    Raises:
        PromptError: `count`, the number of its ids, exceeds `context_length`.
    """
    if count > context_length:
        raise PromptError(
            f"expected a prompt of at most {context_length} tokens, "
            f"found {count}; shorten the prompt"
        )


def require_scorable(count: int, context_length: int) -> None:
    """Refuse to score more ids than the model can read; the last id need not be read.

    Raises:
        CapacityError: `count`, the number of ids, exceeds `context_length` + 1.
    """
    if count > context_length + 1:
        raise CapacityError(
            f"expected at most {context_length + 1} tokens to score, found {count}; "
            f"score a shorter text"
        )


def require_room(count: int, context_length: int, more: int = 1) -> None:
    """Refuse more ids than the context has room for.

    Args:
        count: how many ids are in it.
        context_length: how many it holds.
        more: how many are to follow.

    Raises:
        CapacityError: there is not enough room.
    """
    if count >= context_length:
        raise CapacityError(
            f"expected room for one more token, found the context full with "
            f"{count}; shorten the prompt or the text"
        )
    if count + more > context_length:
        raise CapacityError(
            f"expected room for {more} more tokens, found {count} in a context of "
            f"{context_length}; shorten the prompt or the text"
        )


def require_pushed(count: SupportsIndex, pushed: int) -> int:
    """`count`, how many ids to rewind, as a Python integer; refuses more than were pushed.

    Raises:
        SettingsError: `count` is negative, or exceeds `pushed`, the number of pushed ids.
        WrongTypeError: `count` is not an integer.
    """
    checked = integer("rewind", count)
    if not 0 <= checked <= pushed:
        raise SettingsError(
            f"expected to rewind between 0 and the {pushed} pushed tokens, found {checked}; "
            f"a prompt cannot be rewound, start another Decoder"
        )
    return checked


def require_rewindable(most: object) -> None:
    """Refuse another number of ids to keep logits for; None keeps all.

    Raises:
        SettingsError: it is no integer of at least 0.
    """
    if most is not None:
        require_integer("rewindable", most, 0)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
