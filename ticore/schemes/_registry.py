"""Schemes by their names: those of this package, of other packages, and of other engines."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

from .._support.checks import require
from ..errors import CredentialError, SettingsError
from ..keys import key_bytes
from ..registry import lookup
from ._base import Detectable, Scheme
from ._dipmark import DiPmark
from ._green_list import GreensMode
from ._gumbel import Gumbel
from ._gumbel_payload import GumbelPayload
from ._keyed_numbers import Version
from ._left_hash import LeftHash
from ._self_hash import SelfHash
from ._unigram import Unigram

D = TypeVar("D", bound=Detectable)

GROUP = "ticore.schemes"
"""Entry points by which other packages declare schemes: `name = "package:Class"`.

The class is called as `Class(key, vocab_size, **settings)`.
"""

EXTERNAL_SCHEMES = ("sglang", "synthid", "textseal", "transformers", "vllm")
"""Other engines whose watermarks can be read and written: see `ticore.schemes.external`."""

SCHEMES: dict[str, type[LeftHash | SelfHash | Unigram | Gumbel]] = {
    scheme.name: scheme for scheme in (LeftHash, SelfHash, Unigram, Gumbel)
}

PAYLOAD_SCHEMES: dict[str, type[GumbelPayload]] = {GumbelPayload.name: GumbelPayload}
"""Schemes whose writer needs a payload."""

ALL_SCHEMES: dict[str, type[LeftHash | SelfHash | Unigram | Gumbel | DiPmark]] = {
    **SCHEMES,
    **PAYLOAD_SCHEMES,
    DiPmark.name: DiPmark,
}
"""All bundled schemes: those of `SCHEMES` also have a version 1."""


class SchemeSettings(TypedDict, total=False):
    """The settings of the bundled schemes by name; not every scheme has each of them.

    Attributes:
        gamma, delta, greens: of schemes with green lists; see `ticore.schemes.GreenList`.
        context: how many tokens before a token its random numbers depend on; of all but `unigram`.
        version: of the scheme's random numbers: 2, or 1 for texts that were written before there
            was a version 2.
        alpha: of `dipmark`; see `ticore.schemes.DiPmark`.
        payload, payload_bits: of `gumbel_payload`; see `ticore.schemes.GumbelPayload`.
    """

    gamma: float
    delta: float
    greens: GreensMode
    context: int
    version: Version
    alpha: float
    payload: bytes | str | None
    payload_bits: int


def external_scheme(engine: str, config: object, vocab_size: int) -> Scheme:
    """A scheme that reads and writes the watermark of another engine.

    Args:
        engine: one of `EXTERNAL_SCHEMES`.
        config: the engine's own settings by its own names, with the key: a mapping, or the
            engine's configuration object.
        vocab_size: of the tokenizer, or how many logits the model has.

    Raises:
        SettingsError: the engine or a setting is unknown, or a setting is out of range.
    """
    # Parts of scipy that they need take a second to load.
    from .external import CONSTRUCTORS  # noqa: PLC0415  # only if asked for

    return lookup("engine", CONSTRUCTORS, engine)(as_mapping(engine, config), vocab_size)


@overload
def make_scheme(
    scheme: str, key: bytes | str | None, vocab_size: int, **settings: Unpack[SchemeSettings]
) -> Scheme: ...
@overload
def make_scheme(
    scheme: D, key: bytes | str | None, vocab_size: int, **settings: Unpack[SchemeSettings]
) -> D: ...
@overload
def make_scheme(
    scheme: str | D, key: bytes | str | None, vocab_size: int, **settings: Unpack[SchemeSettings]
) -> Scheme | D: ...
def make_scheme(
    scheme: str | D, key: bytes | str | None, vocab_size: int, **settings: Any
) -> Scheme | D:
    """The scheme of a name under a key; a scheme that is given is returned as it is.

    Args:
        scheme: the name of a bundled scheme or of one that another package declares, or an object.
        key: the secret, for a scheme that is given by name only.
        vocab_size: of the tokenizer.
        settings: of the scheme that is named.

    Raises:
        SettingsError: the name or a setting is unknown, a setting is out of range, or `scheme` is
            an object, which has its own key and settings, and a key or settings are given as well;
            or an object that is no scheme.
        CredentialError: there is no key, or it is too short or too long.
        MissingExtraError: the package that declares the scheme cannot be imported.
    """
    if not isinstance(scheme, str):
        if key is not None or settings:
            raise SettingsError(
                "expected a scheme's name with a key and settings, or a scheme that has its own, "
                "found both; leave out the key and the settings"
            )
        require(
            callable(getattr(scheme, "evidence", None)),
            "scheme",
            "the name of a scheme, or an object with the methods of one",
            scheme,
        )
        return scheme
    if scheme in EXTERNAL_SCHEMES:
        raise SettingsError(
            f"scheme: expected one of ticore's own or an object, found {scheme!r}, which is "
            f"another engine's and has that engine's settings; use Watermarker.for_engine or "
            f"ticore.schemes.external_scheme"
        )
    make = lookup("scheme", ALL_SCHEMES, scheme, GROUP)
    if key is None:
        raise CredentialError("expected a key, found none; make one with: ticore keygen")
    own = scheme_defaults(scheme)
    if unknown := sorted(settings.keys() - own.keys()):
        raise SettingsError(
            f"expected settings that {scheme} has, found {', '.join(unknown)}; it has "
            f"{', '.join(own) or 'none'}: correct a misspelt one, leave out what another scheme has"
        )
    return make(key_bytes(key), vocab_size, **settings)


def scheme_defaults(scheme: str) -> dict[str, Any]:
    """The settings of the scheme of a name, in its own order, with their default values.

    Raises:
        SettingsError: there is no such scheme.

    >>> scheme_defaults("left_hash")
    {'gamma': 0.5, 'delta': 2.0, 'greens': 'independent', 'context': 1, 'version': 2}
    """
    parameters = inspect.signature(lookup("scheme", ALL_SCHEMES, scheme, GROUP)).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    return {each.name: each.default for each in parameters if each.kind is keyword}


def as_mapping(engine: str, config: object) -> Mapping[str, Any]:
    """An engine's settings, given as a mapping or as the engine's own configuration object.

    Raises:
        SettingsError: `config` is neither.
    """
    if isinstance(config, Mapping):
        return config
    to_dict = getattr(config, "to_dict", None)
    if callable(to_dict):
        return dict(to_dict())
    if is_dataclass(config) and not isinstance(config, type):
        return asdict(config)
    raise SettingsError(
        f"{engine}: expected the engine's own settings as a mapping or as its configuration "
        f"object, found a {type(config).__name__}"
    )
