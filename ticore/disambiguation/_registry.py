"""The disambiguations by name. A word may follow the name: `basic:decoded`, `stepwise:oracle`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from .._support.builders import builds_alike
from ..errors import SettingsError, shown
from ..registry import lookup
from ._base import Disambiguation, PromptContext
from ._basic import Basic
from ._look_ahead import LookAhead
from ._mwis import Mwis
from ._none import NoDisambiguation
from ._prefixes import Strings
from ._search import Drops, Search
from ._stepwise import METHODS_IN_AGREEMENTS, Stepwise
from ._syncpool import SyncPool

ENTRY_POINTS = "ticore.disambiguations"
"""The group of entry points in which other packages declare a DisambiguationSpec by name."""


@dataclass(frozen=True)
class DisambiguationSpec:
    """How to make a disambiguation.

    Attributes:
        name: what agreements record. Both sides use the same name for the same disambiguation.
        build: makes it from a PromptContext.
        keyed: whether its sessions need random numbers that both sides share.
        certain: whether the reader always finds the writer's tokens.
        searches: whether the reader looks for the writer's tokens until a message is authentic,
            where the tokenizer finds others.
        checked: whether long messages have checks in them, by which a search notices soon that it
            took a wrong token.
        branches: whether a choice may take tokens of the text back, so that a text takes other
            steps than it has tokens.
        verifies: whether it asks which lists of tokens are consistent, so that it has modes.
        argument: the argument of `build` that a word after the name sets, if there is one.
        words: the words that may follow the name.
    """

    name: str
    build: Callable[..., Disambiguation]
    keyed: bool = False
    certain: bool = True
    searches: bool = False
    checked: bool = False
    branches: bool = False
    verifies: bool = False
    argument: str = ""
    words: tuple[str, ...] = ()

    def make(self, context: PromptContext) -> Disambiguation:
        """The disambiguation of texts with one prompt.

        Raises:
            SettingsError: the disambiguation does not have the mode of `context`.
        """
        if context.mode != "prefix" and not self.verifies:
            raise SettingsError(
                f"mode: expected 'prefix' with this disambiguation, found {context.mode!r}: it "
                f"does not ask which lists of tokens are consistent; use 'stepwise'"
            )
        return self.build(context)


_STRINGS = get_args(Strings)

DISAMBIGUATIONS: Mapping[str, DisambiguationSpec] = {
    spec.name: spec
    for spec in (
        DisambiguationSpec("basic", Basic, argument="strings", words=_STRINGS),
        DisambiguationSpec("lookahead", LookAhead, keyed=True, branches=True),
        DisambiguationSpec("mwis", Mwis, argument="strings", words=_STRINGS),
        DisambiguationSpec("none", NoDisambiguation, certain=False),
        DisambiguationSpec(
            "search",
            Search,
            certain=False,
            searches=True,
            argument="drops",
            words=get_args(Drops),
        ),
        DisambiguationSpec(
            "search:long",
            partial(Search, drops="invalid"),
            certain=False,
            searches=True,
            checked=True,
        ),
        DisambiguationSpec(
            "stepwise",
            Stepwise,
            verifies=True,
            argument="method",
            words=tuple(METHODS_IN_AGREEMENTS),
        ),
        DisambiguationSpec("syncpool", SyncPool, keyed=True, argument="strings", words=_STRINGS),
    )
}


def disambiguation_spec(disambiguation: str | DisambiguationSpec) -> DisambiguationSpec:
    """The disambiguation of a name, or the argument itself where it is a DisambiguationSpec.

    Args:
        disambiguation: a name as `disambiguation_named` takes it, or a DisambiguationSpec that
            need not be declared anywhere.

    Raises:
        SettingsError: the name is unknown, the argument is neither, or it is a DisambiguationSpec
            of your own with the name of a bundled disambiguation.
        MissingExtraError: the package that declares the disambiguation cannot be imported.
    """
    if isinstance(disambiguation, str):
        return disambiguation_named(disambiguation)
    if not isinstance(disambiguation, DisambiguationSpec):
        raise SettingsError(
            f"disambiguation: expected a name or a DisambiguationSpec, found "
            f"{shown(disambiguation)}; for one of your own give "
            f"ticore.disambiguation.DisambiguationSpec('its-name', ItsClass)"
        )
    name, build = disambiguation.name, disambiguation.build
    is_bundled = name.partition(":")[0] in DISAMBIGUATIONS
    if is_bundled and not builds_alike(build, disambiguation_named(name).build):
        raise SettingsError(
            f"disambiguation: expected another name than {name!r}, which a bundled disambiguation "
            f"has; the reader would use that one"
        )
    return disambiguation


def disambiguation_named(name: str) -> DisambiguationSpec:
    """The disambiguation of a name: a bundled one, or one that another package declares.

    Args:
        name: of the disambiguation, such as `basic` or `search:long`, or with a word, such as
            `basic:decoded`.

    Raises:
        SettingsError: the name is unknown, or its word is not one that the disambiguation takes.
        MissingExtraError: the package that declares the disambiguation cannot be imported.
    """
    if name in DISAMBIGUATIONS:
        return DISAMBIGUATIONS[name]
    base, colon, word = name.partition(":")
    spec = lookup("disambiguation", DISAMBIGUATIONS, base, ENTRY_POINTS)
    if not colon:
        return spec
    if word not in spec.words:
        bundled = (one for one in DISAMBIGUATIONS if one.startswith(f"{base}:"))
        known = ", ".join([base, *(f"{base}:{one}" for one in spec.words), *bundled])
        raise SettingsError(f"disambiguation: expected one of {known}, found {name!r}")
    return replace(spec, name=name, build=partial(spec.build, **{spec.argument: word}))
