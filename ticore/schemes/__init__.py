"""Watermarking schemes: how a key makes some tokens likelier, and how a detector scores tokens."""

from typing import Any

from .._support.deprecation import moved_names
from ._base import Detectable, Scheme
from ._dipmark import DiPmark
from ._evidence import Evidence
from ._green_list import GreenList
from ._gumbel import Gumbel
from ._gumbel_payload import GumbelPayload
from ._key import key_fingerprint
from ._left_hash import LeftHash
from ._null_distributions import (
    BinomialNull,
    ExponentialNull,
    HypergeometricNull,
    NullDistribution,
)
from ._payload import FoundPayload
from ._registry import (
    ALL_SCHEMES,
    EXTERNAL_SCHEMES,
    PAYLOAD_SCHEMES,
    SCHEMES,
    SchemeSettings,
    external_scheme,
    make_scheme,
)
from ._self_hash import SelfHash
from ._unigram import Unigram

__all__ = [
    "ALL_SCHEMES",
    "EXTERNAL_SCHEMES",
    "PAYLOAD_SCHEMES",
    "SCHEMES",
    "BinomialNull",
    "Detectable",
    "DiPmark",
    "Evidence",
    "ExponentialNull",
    "FoundPayload",
    "GreenList",
    "Gumbel",
    "GumbelPayload",
    "HypergeometricNull",
    "LeftHash",
    "NullDistribution",
    "Scheme",
    "SchemeSettings",
    "SelfHash",
    "Unigram",
    "external_scheme",
    "key_fingerprint",
    "make_scheme",
]

_RENAMED = {
    "ExactGreens": "ticore.schemes:HypergeometricNull",
    "Exponential": "ticore.schemes:ExponentialNull",
    "Greens": "ticore.schemes:BinomialNull",
    "Null": "ticore.schemes:NullDistribution",
    "READERS": "ticore.schemes:EXTERNAL_SCHEMES",
    "reader_named": "ticore.schemes:external_scheme",
    "scheme_named": "ticore.schemes:make_scheme",
}
_renamed = moved_names(__name__, _RENAMED)


def __getattr__(name: str) -> Any:
    return _renamed(name)
