"""Lists of configurations: what may have written a text, as people give it.

A configuration is a scheme under a key. `key`, `scheme` and `context` may be lists of values, and
then stand for each combination:

    {"scheme": ["gumbel", "left_hash"], "context": [1, 4], "key": ["00..", "01.."]}   is 8

Whatever is found is told apart by the name of its configuration. So no two of a list have the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import count, product
from math import prod
from typing import Any, cast

import numpy as np

from .._support.utf8 import require_unicode
from ..errors import CredentialError, SettingsError, WrongTypeError, shown
from ..interfaces import Tokenizer
from ..schemes import EXTERNAL_SCHEMES, Detectable, DiPmark, external_scheme, make_scheme
from ..schemes._many_keys import group_name, key_words
from ..schemes._payload import PayloadNull
from ..schemes._registry import scheme_defaults
from ._agreement import Repeats, WatermarkAgreement
from ._detection import DetectionTarget

Configuration = Mapping[str, Any] | WatermarkAgreement | Detectable
"""A scheme with its key, as one of three.

- A mapping: `scheme` (left_hash, if it is left out), `key` (bytes, or hex digits as a str), the
  scheme's settings such as `gamma` or `context`, and a `name` of your own. For another engine
  `scheme` and `config`, the engine's own settings.
- A `WatermarkAgreement`, for the detector's tokenizer.
- A scheme as an object.
"""

ALL = "all together"
"""Stands for the name of a configuration: any of them is found, after correction for all."""

_SEVERAL = ("key", "scheme", "context")  # what may be a list
_DEFAULT_SCHEME = "left_hash"
_LONG_HEX = re.compile("[0-9A-Fa-f]{24,}")
_EXTERNAL = "ticore.schemes.external."  # where other engines' are; importing them takes a second


@dataclass(frozen=True)
class NamedScheme:
    """One configuration of a list, ready to be looked for.

    Attributes:
        name: as given; or the scheme, its context and the key's fingerprint.
        scheme: the scheme as an object.
        scheme_name: as a `DetectionTarget` names it.
        is_given: whether the name is as given.
    """

    name: str
    scheme: Detectable
    scheme_name: str
    is_given: bool = False

    def target(self, tokenizer: str, fpr: float) -> DetectionTarget:
        """What a verdict says was looked for."""
        return DetectionTarget(
            scheme=self.scheme_name,
            tokenizer=tokenizer,
            fpr=fpr,
            version=getattr(self.scheme, "version", None),
            key=getattr(self.scheme, "key_fingerprint", None),
        )


def schemes_of(configurations: Iterable[Configuration]) -> set[str]:
    """The names of the schemes that configurations state, without the default."""
    found = set[str]()
    for one in configurations:
        if isinstance(one, Mapping):
            named = one.get("scheme")  # what names no scheme is refused elsewhere
            several = named if isinstance(named, list | tuple) else [named]
            found.update(name for name in several if isinstance(name, str))
        else:
            found.add(one.scheme if isinstance(one, WatermarkAgreement) else _scheme_name(one))
    return found


def named_schemes(
    configurations: object, tokenizer: Tokenizer, repeats: Repeats
) -> list[NamedScheme]:
    """The configurations of a list, in its order, each with another name.

    Args:
        configurations: a sequence of `Configuration`, or of what this gave.
        tokenizer: the detector's.
        repeats: the detector's; an agreement must have the same.

    Raises:
        WrongTypeError: `configurations` is not a list of such.
        SettingsError, CredentialError: one of them is wrong, or repeats another one or the name
            that was given to it. The error says which, counted from 1, and shows no key.
    """
    if isinstance(configurations, str | bytes | Mapping) or not isinstance(
        configurations, Sequence
    ):
        raise WrongTypeError(
            f"configurations: expected a list, found a {type(configurations).__name__}; put it in "
            f"a list"
        )
    if not configurations:
        raise SettingsError("configurations: expected at least one, found an empty list; add one")
    found: list[NamedScheme] = []
    numbers: dict[Hashable, int] = {}
    names: dict[str, int] = {}
    for number, entry in enumerate(configurations, 1):
        try:
            for one in _of_entry(entry, tokenizer, repeats):
                identity = _identity(one.scheme)
                if identity in numbers:
                    raise SettingsError(
                        f"expected one that differs from the others, found that of configuration "
                        f"{numbers[identity]} again; leave one out"
                    )
                numbers[identity] = number
                if one.is_given:
                    _require_free(one.name, names)
                    names[one.name] = number
                found.append(one)
        except (SettingsError, CredentialError) as error:
            # What is repeated of a wrong value may be a key that stands in the wrong place.
            why = _LONG_HEX.sub("(hex digits)", str(error))
            raise type(error)(f"configuration {number}: {why}") from None
    return _numbered(found)


def count_configurations(entries: Sequence[object]) -> int:
    """How many configurations a list stands for, before any is looked at."""
    return sum(prod(map(len, _several(entry).values())) for entry in entries)


def _several(entry: object) -> dict[str, Sequence[Any]]:
    """The values of an entry for what may be a list."""
    if not isinstance(entry, Mapping):
        return {}
    return {
        name: value if isinstance(value, list | tuple) else [value]
        for name, value in entry.items()
        if name in _SEVERAL
    }


def _require_free(name: str, names: Mapping[str, int]) -> None:
    """Raises SettingsError if a name is that of another configuration, or of all."""
    if name == ALL:
        raise SettingsError(
            f"name: expected that of one configuration, found {ALL!r}, which stands for the whole "
            f"list; choose another name"
        )
    if name in names:
        raise SettingsError(
            f"name: expected one that differs from the others, found that of configuration "
            f"{names[name]} again; choose another name, or leave it out"
        )


def _numbered(found: Sequence[NamedScheme]) -> list[NamedScheme]:
    """With numbers, in their order, after names that are equal and were not given."""
    times = Counter(one.name for one in found)
    given = {one.name for one in found if one.is_given}
    free = {name: _with_numbers(name, given) for name in times}
    return [
        one if one.is_given or times[one.name] == 1 else replace(one, name=next(free[one.name]))
        for one in found
    ]


def _with_numbers(name: str, given: Collection[str]) -> Iterator[str]:
    """A name with 1, 2, ... after it, without those that were given."""
    return (each for number in count(1) if (each := f"{name} ({number})") not in given)


def _of_entry(entry: object, tokenizer: Tokenizer, repeats: Repeats) -> list[NamedScheme]:
    if isinstance(entry, NamedScheme):
        return [entry]
    if isinstance(entry, WatermarkAgreement):
        entry.require_tokenizer(tokenizer)
        if entry.repeats != repeats:
            raise SettingsError(
                f"repeats: expected {repeats}, as for the whole list, found {entry.repeats}; look "
                f"for it by itself"
            )
        return [_named(entry.make_scheme(tokenizer.vocab_size))]
    if isinstance(entry, Mapping):
        return _of_mapping(entry, tokenizer.vocab_size)
    if callable(getattr(entry, "evidence", None)):
        return [_named(cast(Detectable, entry))]
    raise SettingsError(
        f"expected a scheme with its key and settings, by name, found a {type(entry).__name__}; "
        f'write {{"scheme": "gumbel", "key": "..."}}'
    )


def _of_mapping(entry: Mapping[str, Any], vocab_size: int) -> list[NamedScheme]:
    several = _several(entry)
    for name, values in several.items():
        if not values:
            raise SettingsError(f"{name}: expected at least one, found an empty list; add one")
    rest = {name: value for name, value in entry.items() if name not in (*_SEVERAL, "name")}
    label = entry.get("name")
    if label is not None and not (isinstance(label, str) and label):
        raise SettingsError(f"name: expected a non-empty text, found {shown(label)}")
    if label is not None:
        _require_name(label)
    found = []
    for values in product(*several.values()):
        settings = rest | dict(zip(several, values, strict=True))
        found.append(_named(_scheme(settings, vocab_size), label))
    if label is None or len(found) == 1:
        return found
    return [
        replace(one, name=f"{label}, {_described(one.scheme)}", is_given=False) for one in found
    ]


def require_searchable(schemes: Iterable[Detectable]) -> None:
    """Raises SettingsError where no scheme gives a token a score that a search could raise."""
    if all(isinstance(scheme.null, PayloadNull) for scheme in schemes):
        raise SettingsError(
            "tokenizations: expected read or places for a scheme with a payload, found search; no "
            "token has a score of its own before the payload is known"
        )


def _require_name(label: str) -> None:
    """Refuse a name that no answer, table or page could hold: half a surrogate pair."""
    try:
        require_unicode(label)
    except SettingsError as error:
        raise SettingsError(f"name: {error}") from None


def _scheme(settings: dict[str, Any], vocab_size: int) -> Detectable:
    scheme = settings.pop("scheme", _DEFAULT_SCHEME)
    if not isinstance(scheme, str):
        raise SettingsError(f"scheme: expected its name, found {shown(scheme)}")
    if scheme not in EXTERNAL_SCHEMES:
        key, known = settings.pop("key", None), scheme_defaults(scheme)
        if unknown := [name for name in settings if name not in known]:
            raise SettingsError(
                f"expected settings that {scheme} has, found {', '.join(map(shown, unknown))}; it "
                f"has {', '.join(known) or 'none'}: correct a misspelt one, leave out what another "
                f"scheme has"
            )
        require_no_payload(settings)
        made: Detectable = make_scheme(scheme, key, vocab_size, **settings)
        return made
    config = settings.pop("config", None)
    if config is None or settings:
        raise SettingsError(
            f"expected scheme and config alone, for {scheme} is another engine's, found "
            f"{', '.join(map(shown, settings)) or 'no config'}; put the engine's own settings in "
            f"config"
        )
    return external_scheme(scheme, config, vocab_size)


def require_no_payload(settings: Mapping[str, Any]) -> None:
    """Raise SettingsError if a detector is given a payload, which it would ignore."""
    if settings.get("payload") is not None:
        raise SettingsError(
            "payload: expected none, for a detector reads it, found one; leave it out"
        )


def _named(scheme: Detectable, name: str | None = None) -> NamedScheme:
    return NamedScheme(name or _described(scheme), scheme, _scheme_name(scheme), name is not None)


def _scheme_name(scheme: Detectable) -> str:
    return getattr(scheme, "name", None) or type(scheme).__name__


def _described(scheme: Detectable) -> str:
    parts = [_scheme_name(scheme)]
    if variant := getattr(scheme, "variant", ""):
        parts.append(variant)
    if key := getattr(scheme, "key_fingerprint", None):
        parts.append(f"key {key}")
    return ", ".join([*parts, f"context {scheme.context}"])


def _identity(scheme: Detectable) -> Hashable:
    """Equal for schemes that give every text the same scores; or of the object alone."""
    name = group_name(scheme)
    if name is not None:
        return name, key_words(scheme)
    if type(scheme) is DiPmark:
        settings = scheme.vocab_size, scheme.context, scheme.alpha
        return DiPmark, settings, key_words(scheme)
    if type(scheme).__module__.startswith(_EXTERNAL):
        return _attributes(scheme)
    return id(scheme)


def _attributes(scheme: Detectable) -> Hashable:
    """The class of another engine's scheme, its settings and key. `null` depends on these alone."""
    attributes = sorted(vars(scheme).items())
    return type(scheme), *((name, _hashable(value)) for name, value in attributes if name != "null")


def _hashable(value: Any) -> Hashable:
    """Equal for attributes that are equal: numbers, arrays, schemes, or several of these."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, blake2b(value.tobytes()).digest()
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    found: Hashable = _attributes(value) if hasattr(value, "evidence") else value
    return found
