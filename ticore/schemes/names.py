"""Schemes by their names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar, overload

from ..errors import KeyFormatError, SettingsError
from ..keys import key_bytes
from ..registry import choose
from .base import Readable
from .gumbel import Gumbel
from .left_hash import LeftHash
from .self_hash import SelfHash
from .unigram import Unigram

Named = LeftHash | SelfHash | Unigram | Gumbel
R = TypeVar("R", bound=Readable)

READERS = ("sglang", "synthid", "transformers", "vllm")
"""Engines whose own watermarks are read: see `ticore.schemes.readers`."""

SCHEMES: dict[str, type[Named]] = {
    scheme.name: scheme for scheme in (LeftHash, SelfHash, Unigram, Gumbel)
}


def reader_named(engine: str, config: Mapping[str, Any], vocab_size: int) -> Readable:
    """What reads the watermark that an engine writes under its own settings.

    Args:
        engine: one of `READERS`.
        config: its settings, under the names that it has for them.
        vocab_size: of the tokenizer.

    Raises SettingsError for settings that are unknown or out of range.
    """
    # Parts of scipy that they need take a second to load.
    from .readers import READERS as make  # noqa: PLC0415

    return choose("engine", make, engine)(config, vocab_size)


@overload
def scheme_named(
    scheme: str, key: bytes | str | None, vocab_size: int, **settings: Any
) -> Named: ...
@overload
def scheme_named(scheme: R, key: bytes | str | None, vocab_size: int, **settings: Any) -> R: ...
@overload
def scheme_named(
    scheme: str | R, key: bytes | str | None, vocab_size: int, **settings: Any
) -> Named | R: ...
def scheme_named(
    scheme: str | R, key: bytes | str | None, vocab_size: int, **settings: Any
) -> Named | R:
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
    own = settings_of(make)
    if unknown := sorted(settings.keys() - own):
        raise SettingsError(
            f"expected settings that {scheme} has, found {', '.join(unknown)}; it has "
            f"{', '.join(own) or 'none'}: leave out what another scheme has"
        )
    return make(key_bytes(key), vocab_size, **settings)


def settings_of(scheme: type[Named]) -> list[str]:
    """The names of a scheme's settings, in its own order.

    >>> settings_of(LeftHash)
    ['gamma', 'delta', 'greens', 'version']
    """
    parameters = inspect.signature(scheme).parameters.values()
    return [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
