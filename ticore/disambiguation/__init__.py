"""Disambiguations: how reader and writer agree on tokens. `DISAMBIGUATIONS` lists them by name."""

from collections.abc import Mapping

from .base import Disambiguation, DisambiguationFactory, Session, TextReader
from .stepwise import Stepwise

DISAMBIGUATIONS: Mapping[str, DisambiguationFactory] = {"stepwise": Stepwise}

__all__ = [
    "DISAMBIGUATIONS",
    "Disambiguation",
    "DisambiguationFactory",
    "Session",
    "Stepwise",
    "TextReader",
]
