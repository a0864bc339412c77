"""Disambiguations: how reader and writer agree on tokens. `DISAMBIGUATIONS` lists them by name."""

from .base import Beginning, Choices, Disambiguation, Session, TextReader
from .basic import Basic
from .mwis import Mwis
from .names import DISAMBIGUATIONS, DisambiguationKind, disambiguation_named
from .plain import Plain
from .stepwise import Stepwise
from .syncpool import SyncPool

__all__ = [
    "DISAMBIGUATIONS",
    "Basic",
    "Beginning",
    "Choices",
    "Disambiguation",
    "DisambiguationKind",
    "Mwis",
    "Plain",
    "Session",
    "Stepwise",
    "SyncPool",
    "TextReader",
    "disambiguation_named",
]
