"""Typed access to config.json; each refusal says what was expected and what was found."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..errors import ModelFilesError


@dataclass(frozen=True)
class Fields:
    """The fields of one JSON object; a null is taken as absent.

    Attributes:
        settings: the parsed object.
        where: what the error texts call it.
        advice: what they say to do about a field that is refused.
    """

    settings: Mapping[str, object]
    where: str
    advice: str

    def error(self, name: str, expected: str, found: object) -> ModelFilesError:
        return ModelFilesError(
            f"{self.where}: expected {name} to be {expected}, found {found!r}; {self.advice}"
        )

    def one_of(self, name: str, default: object, known: Collection[object]) -> object:
        """The value of `name`; refused unless it is in `known`."""
        found = self.get(name, default)
        if found not in known:
            raise self.error(name, " or ".join(map(repr, known)), found)
        return found

    def size(self, name: str, default: int | None = None) -> int:
        found = self.get(name, default)
        if type(found) is not int or found < 1:
            raise self.error(name, "a positive integer", found)
        return found

    def positive(self, name: str, default: float | None = None) -> float:
        found = self.get(name, default)
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise self.error(name, "a number", found)
        if not 0 < found < math.inf:
            raise self.error(name, "a positive number", found)
        return float(found)

    def flag(self, name: str, default: bool) -> bool:
        found = self.get(name, default)
        if not isinstance(found, bool):
            raise self.error(name, "true or false", found)
        return found

    def tokens(self, name: str, default: int | None, vocab_size: int) -> tuple[int, ...]:
        """Ids below `vocab_size`: one, a list, or none. Here a null is no absence: it says none."""
        found = self.settings.get(name, default)
        ids = found if isinstance(found, list) else [] if found is None else [found]
        if not all(type(token) is int and 0 <= token < vocab_size for token in ids):
            raise self.error(name, f"token ids from 0 to {vocab_size - 1}", found)
        return tuple(ids)

    def section(self, *names: str) -> Fields:
        """The object within this one that the first of `names` with a value holds, or none."""
        for name in names:
            found = self.settings.get(name)
            if found:
                if not isinstance(found, dict):
                    raise self.error(name, "an object or null", found)
                return Fields(found, f"{self.where}: {name}", self.advice)
        return Fields({}, self.where, self.advice)

    def get(self, name: str, default: object = None) -> object:
        found = self.settings.get(name)
        return default if found is None else found
