"""Disambiguations: how reader and writer agree on tokens. `DISAMBIGUATIONS` lists them by name."""

from .._support.deprecation import moved_names
from ._base import (
    BranchingSession,
    Choices,
    Disambiguation,
    PromptContext,
    ReceivedText,
    Session,
    SharingSession,
)
from ._basic import Basic
from ._look_ahead import LookAhead
from ._mwis import Mwis
from ._none import NoDisambiguation
from ._registry import (
    DISAMBIGUATIONS,
    DisambiguationSpec,
    disambiguation_named,
    disambiguation_spec,
)
from ._search import Search, SearchableDisambiguation, Spellings
from ._stepwise import Stepwise
from ._syncpool import SyncPool

__all__ = [
    "DISAMBIGUATIONS",
    "Basic",
    "BranchingSession",
    "Choices",
    "Disambiguation",
    "DisambiguationSpec",
    "LookAhead",
    "Mwis",
    "NoDisambiguation",
    "PromptContext",
    "ReceivedText",
    "Search",
    "SearchableDisambiguation",
    "Session",
    "SharingSession",
    "Spellings",
    "Stepwise",
    "SyncPool",
    "disambiguation_named",
    "disambiguation_spec",
]

__getattr__ = moved_names(
    __name__,
    {
        "DisambiguationKind": "ticore.disambiguation:DisambiguationSpec",
        "Plain": "ticore.disambiguation:NoDisambiguation",
    },
)
