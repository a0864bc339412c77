"""What a request asks about: one text or many, or token ids, and perhaps one configuration."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeGuard

from ..._support.checks import is_integer
from ..._support.input_files import parse_json
from ..._support.utf8 import require_unicode
from ...errors import SettingsError
from ..refusals import RefusedError

BAD_REQUEST = 400
MOST_TEXTS = 1000
FIELDS = ("text", "texts", "ids", "configuration")

Item = str | list[int]
"""A text, or its token ids."""


@dataclass(frozen=True)
class Query:
    """What to look at.

    Attributes:
        items: texts or lists of ids.
        is_one: whether one answer is expected, and not a list.
        configuration: the name of the one to look for; None: all.
    """

    items: tuple[Item, ...]
    is_one: bool
    configuration: str | None


def query_of(body: bytes, names: Collection[str]) -> Query:
    """The query in the body of a request.

    Args:
        body: a JSON object in UTF-8.
        names: of the configurations that may be asked for.

    Raises:
        RefusedError: it is something else. The error repeats no text.
    """
    try:
        values = parse_json(body.decode())
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise _refused('expected a JSON object in UTF-8, such as {"text": "..."}')
    if unknown := set(values) - set(FIELDS):
        raise _refused(f"expected the fields {', '.join(FIELDS)}, found {len(unknown)} others")
    given = [name for name in ("text", "texts", "ids") if values.get(name) is not None]
    if len(given) != 1:
        raise _refused(f"expected one of text, texts and ids, found {len(given)} of them")
    items, is_one = _items(given[0], values[given[0]])
    configuration = values.get("configuration")
    if configuration is not None and configuration not in names:
        raise _refused(
            "configuration: expected the name of one that this service has; GET /configurations "
            "lists them"
        )
    return Query(tuple(items), is_one, configuration)


def _items(name: str, value: Any) -> tuple[list[Item], bool]:
    if name == "text":
        return [_text(value, name)], True
    if name == "ids" and _is_ids(value):
        return [value], True
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TEXTS:
        raise _refused(f"{name}: expected a list of 1 to {MOST_TEXTS:,}")
    if name == "texts":
        return [_text(each, name) for each in value], False
    if not all(map(_is_ids, value)):
        raise _refused("ids: expected token ids from 0 on, one list of them or many")
    return value, False


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise _refused(f"{name}: expected text in quotation marks, found something else")
    try:
        require_unicode(value)
    except SettingsError:
        raise _refused(f"{name}: expected valid Unicode, found half of a character") from None
    return value


def _is_ids(value: object) -> TypeGuard[list[int]]:
    # An id beyond 64 bits would not fit the array that it is put in.
    return isinstance(value, list) and all(is_integer(i) and 0 <= i < 1 << 62 for i in value)


def _refused(said: str) -> RefusedError:
    return RefusedError(BAD_REQUEST, said)
