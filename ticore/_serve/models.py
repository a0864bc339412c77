"""The models that the page may open: those that are bundled or installed, and no other place.

An agreement names a place, which could be any file or any model of a hub. Who pastes a stranger's
agreement must not open that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .. import _installed_models as installed_models
from .._support.caches import BoundedCache
from .._support.opening_words import opening_words
from ..errors import SettingsError, UnknownPlaceError, shown
from ..interfaces import LanguageModel
from ..registry import load_model, model_backends

_AT_HAND = 3  # models stay open
_OPTIONS = frozenset({"dtype"})  # of agreements; a device is this computer's own matter
_BUNDLED_LICENCE = "Apache-2.0"


@dataclass(frozen=True)
class Offer:
    """A model that can be chosen.

    Attributes:
        place: what `load_model` takes.
        about: a line about it.
        licence: its name, and where its text is if it restricts the use.
        restricted: whether the licence restricts what may be done with the model's texts.
        opening: words that a text may begin with.
    """

    place: str
    about: str
    licence: str
    restricted: bool
    opening: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes by name, in types that JSON has."""
        return asdict(self)


class Models:
    """Opens models and keeps the last ones open. Thread-safe."""

    def __init__(self) -> None:
        self._open = BoundedCache[tuple[str, tuple[tuple[str, str], ...]], LanguageModel](_AT_HAND)
        self._bundled = [
            Offer(name, about, _BUNDLED_LICENCE, False, opening_words(name))
            for entry in model_backends()
            if entry.backend is not None
            for name, about in entry.backend.shipped.items()
        ]

    def offers(self) -> list[Offer]:
        """The models that can be chosen, the bundled ones first."""
        found = [each.known for each in installed_models.installed()]
        return self._bundled + [
            # The catalogue says where a licence is only if it restricts the use.
            Offer(
                each.name,
                each.summary,
                each.licence,
                "https://" in each.licence,
                opening_words(each.name),
            )
            for each in found
        ]

    def model(self, place: str, options: Mapping[str, str] | None = None) -> LanguageModel:
        """Open a model that is offered.

        Args:
            place: of an offer.
            options: see `load_model`; only a number format.

        Raises:
            UnknownPlaceError: it is not offered.
            SettingsError: there is another option.
            TicoreError: it cannot be opened, see `load_model`.
        """
        places = [offer.place for offer in self.offers()]
        if place not in places:
            raise UnknownPlaceError(
                f"expected one of the models that are installed ({', '.join(places)}), found "
                f"{shown(place)}; the page opens no other; use the command line, which does"
            )
        given = dict(options or {})
        if other := sorted(given.keys() - _OPTIONS):
            raise SettingsError(
                f"expected an agreement that sets at most {', '.join(_OPTIONS)} for the model, "
                f"found {shown(other[0])}; use it on the command line"
            )
        key = place, tuple(sorted(given.items()))
        return self._open.get_once(key, lambda: load_model(place, **given))
