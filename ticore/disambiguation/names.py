"""The disambiguations by name. A word may follow: `basic:decoded`, `stepwise:oracle`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from ..consistency import Rung
from ..errors import SettingsError
from ..registry import choose
from .base import Beginning, Disambiguation
from .basic import Basic
from .mwis import Mwis
from .plain import Plain
from .prefixes import Strings
from .stepwise import Stepwise
from .syncpool import SyncPool


@dataclass(frozen=True)
class DisambiguationKind:
    """How to make a disambiguation.

    Attributes:
        build: makes it.
        keyed: its sessions need random numbers that both sides share.
        certain: the reader always finds the writer's tokens.
        verifies: it asks which lists of tokens are consistent, so that a mode means something.
        argument: what a word behind its name sets, if it takes any.
        words: those that it takes.
    """

    build: Callable[..., Disambiguation]
    keyed: bool = False
    certain: bool = True
    verifies: bool = False
    argument: str = ""
    words: tuple[str, ...] = ()

    def make(self, beginning: Beginning) -> Disambiguation:
        """Raises SettingsError where it does not go with the mode."""
        if beginning.mode != "prefix" and not self.verifies:
            raise SettingsError(
                f"mode: expected 'prefix' with this disambiguation, found {beginning.mode!r}: it "
                f"does not ask which lists of tokens are consistent; use 'stepwise'"
            )
        return self.build(beginning)


_STRINGS = get_args(Strings)

DISAMBIGUATIONS: Mapping[str, DisambiguationKind] = {
    "basic": DisambiguationKind(Basic, argument="strings", words=_STRINGS),
    "mwis": DisambiguationKind(Mwis, argument="strings", words=_STRINGS),
    "none": DisambiguationKind(Plain, certain=False),
    "stepwise": DisambiguationKind(Stepwise, verifies=True, argument="rung", words=get_args(Rung)),
    "syncpool": DisambiguationKind(SyncPool, keyed=True, argument="strings", words=_STRINGS),
}


def disambiguation_named(name: str) -> DisambiguationKind:
    """The disambiguation of a name.

    Raises SettingsError where the name is unknown, or goes on with what this one does not take.
    """
    base, colon, word = name.partition(":")
    kind = choose("disambiguation", DISAMBIGUATIONS, base)
    if not colon:
        return kind
    if word not in kind.words:
        known = ", ".join([base, *(f"{base}:{one}" for one in kind.words)])
        raise SettingsError(f"disambiguation: expected one of {known}, found {name!r}")
    return replace(kind, build=partial(kind.build, **{kind.argument: word}))
