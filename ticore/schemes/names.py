"""Schemes by their names."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from ..errors import KeyFormatError, SettingsError
from ..registry import choose
from .base import Readable
from .gumbel import Gumbel
from .left_hash import LeftHash
from .self_hash import SelfHash
from .unigram import Unigram

Named = LeftHash | SelfHash | Unigram | Gumbel
R = TypeVar("R", bound=Readable)

SCHEMES: dict[str, type[Named]] = {
    scheme.name: scheme for scheme in (LeftHash, SelfHash, Unigram, Gumbel)
}


@overload
def scheme_named(scheme: str, key: bytes | None, vocab_size: int, **settings: Any) -> Named: ...
@overload
def scheme_named(scheme: R, key: bytes | None, vocab_size: int, **settings: Any) -> R: ...
@overload
def scheme_named(
    scheme: str | R, key: bytes | None, vocab_size: int, **settings: Any
) -> Named | R: ...
def scheme_named(scheme: str | R, key: bytes | None, vocab_size: int, **settings: Any) -> Named | R:
    """The scheme of a name under a key; a scheme that is given is left as it is.

    Raises:
        SettingsError: the name or a setting is unknown, a setting is out of range, or a scheme that
            has its own is given more.
        KeyFormatError: there is no key, or it is too short or too long.
    """
    if not isinstance(scheme, str):
        if key is not None or settings:
            raise SettingsError(
                "expected a scheme's name with a key and settings, or a scheme that has its own, "
                "found both; leave out the key and the settings"
            )
        return scheme
    make = choose("scheme", SCHEMES, scheme)
    if key is None:
        raise KeyFormatError("expected a key, found none; make one with: ticore keygen")
    try:
        return make(key, vocab_size, **settings)
    except TypeError:
        raise SettingsError(
            f"expected settings that {scheme} has, found {', '.join(sorted(settings))}; "
            f"green lists have gamma, delta and greens, gumbel has none"
        ) from None
