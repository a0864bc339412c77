"""Typed access to config.json; each refusal says what was expected and what was found."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...errors import ModelFilesError

# The largest size. No model comes near it, and arrays of more cannot be made.
_MOST = 2**31 - 1
# The deepest models of today have less than 200 layers; something is made for each.
_MOST_LAYERS = 10_000
# Characters of a value that an error text shows.
_MOST_SHOWN = 200


@dataclass(frozen=True)
class Fields:
    """The fields of one JSON object; a null is taken as absent.

    A method that reads a field raises ModelFilesError if the field has another kind of value, or is
    absent and has no default.

    Attributes:
        settings: the parsed object.
        where: what the error texts call it.
        advice: what they say to do about a field that is refused.
    """

    settings: Mapping[str, object]
    where: str
    advice: str

    def error(self, name: str, expected: str, found: object) -> ModelFilesError:
        """The error for a field: "expected NAME to be EXPECTED, found ..."; it is not raised."""
        shown = repr(found)
        if len(shown) > _MOST_SHOWN:
            shown = f"{shown[:_MOST_SHOWN]}..."
        return ModelFilesError(
            f"{self.where}: expected {name} to be {expected}, found {shown}; {self.advice}"
        )

    def one_of(self, name: str, default: object, known: Collection[object]) -> object:
        """The value of `name`; refused unless it is in `known`."""
        found = self.get(name, default)
        if found not in known:
            raise self.error(name, " or ".join(map(repr, known)), found)
        return found

    def size(self, name: str, default: int | None = None, most: int = _MOST) -> int:
        """A whole number from 1 to `most`."""
        found = self.get(name, default)
        if type(found) is not int or found < 1:
            raise self.error(name, "a positive integer", found)
        if found > most:
            raise self.error(name, f"at most {most:,}", found)
        return found

    def layers(self, name: str) -> int:
        """How many layers there are."""
        return self.size(name, most=_MOST_LAYERS)

    def positive(self, name: str, default: float | None = None) -> float:
        """A finite number above 0."""
        found = self.get(name, default)
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise self.error(name, "a number", found)
        if not 0 < found <= sys.float_info.max:  # nor NaN
            raise self.error(name, "a positive number", found)
        return float(found)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        found = self.get(name, default)
        if not isinstance(found, bool):
            raise self.error(name, "true or false", found)
        return found

    def tokens(self, name: str, default: int | None, vocab_size: int) -> tuple[int, ...]:
        """Ids below `vocab_size`: one, several or none. A null means none, and not the default."""
        found = self.settings.get(name, default)
        ids = found if isinstance(found, list) else [] if found is None else [found]
        if not all(type(token) is int and 0 <= token < vocab_size for token in ids):
            raise self.error(name, f"token ids from 0 to {vocab_size - 1}", found)
        return tuple(ids)

    def section(self, *names: str) -> Fields:
        """The object in the first of the fields `names` that has a value; empty if none has one."""
        for name in names:
            found = self.settings.get(name)
            if found:
                if not isinstance(found, dict):
                    raise self.error(name, "an object or null", found)
                return Fields(found, f"{self.where}: {name}", self.advice)
        return Fields({}, self.where, self.advice)

    def get(self, name: str, default: object = None) -> object:
        """The value of `name`, of any kind; `default` if it is absent or null. Raises nothing."""
        found = self.settings.get(name)
        return default if found is None else found
