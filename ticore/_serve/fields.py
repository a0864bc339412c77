"""What a request says: named texts in a JSON object, each checked before any work begins."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Any, TypeVar, cast

from .._support.checks import is_integer
from .._support.input_files import parse_json
from .._support.utf8 import require_unicode
from ..errors import SettingsError
from .refusals import RefusedError

Known = TypeVar("Known", bound=str)

MOST_CHARACTERS = 1 << 18  # of any text
MOST_IDS = 20_000
_SHOWN = 40  # characters of a name that an error repeats


class Fields:
    """The values of a request by name.

    Args:
        body: JSON in UTF-8.
        known: the names that may be there.

    Raises:
        RefusedError: the body is something else, or has another name.
    """

    def __init__(self, body: bytes, known: Collection[str]) -> None:
        try:
            values = parse_json(body.decode())
        except ValueError:  # its text may hold the body, and so a key
            values = None
        if not isinstance(values, dict):
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                "expected a JSON object in UTF-8, found something else; reload the page",
            )
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"expected the fields {', '.join(known) or '(none)'}, found another, "
                f"{unknown[0][:_SHOWN]!a}; reload the page",
            )
        self._values: dict[str, Any] = values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text of at most MOST_CHARACTERS.

        Args:
            name: of the field.
            default: what stands for a field that is missing or null; None: it must be there.

        Raises:
            RefusedError: it is missing, no text, too long, or not valid Unicode.
        """
        value = self._values.get(name)
        if value is None:
            value = default
        if not isinstance(value, str):
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"{name}: expected a text, found {_kind(value)}; reload the page and try again",
            )
        if len(value) > MOST_CHARACTERS:
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"{name}: expected at most {MOST_CHARACTERS:,} characters, found {len(value):,}; "
                f"take a shorter text",
            )
        try:
            require_unicode(value)
        except SettingsError:
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"{name}: expected text that is valid Unicode, found half of a character; "
                f"copy the text again",
            ) from None
        return value

    def choice(self, name: str, known: Collection[Known], default: Known | None = None) -> Known:
        """A text that is one of `known`. Raises RefusedError."""
        value = self.text(name, default)
        if value not in known:
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"{name}: expected one of {', '.join(known)}, found {value[:_SHOWN]!a}; "
                f"reload the page",
            )
        return cast(Known, value)

    def ids(self, name: str) -> list[int]:
        """A list of token ids, at least one and at most MOST_IDS. Raises RefusedError."""
        value = self._values.get(name)
        if (
            not isinstance(value, list)
            or not 0 < len(value) <= MOST_IDS
            or not all(is_integer(each) and each >= 0 for each in value)
        ):
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"{name}: expected 1 to {MOST_IDS:,} token ids, such as 1 2 3, found something "
                f"else; write numbers with spaces between them",
            )
        return value


def _kind(value: object) -> str:
    kinds = {type(None): "nothing", bool: "yes or no", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")
