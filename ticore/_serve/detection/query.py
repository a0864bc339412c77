"""What a request asks about: one text or many, or token ids, and how they are looked at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeGuard, get_args

from ..._support.input_files import parse_json
from ..._support.utf8 import require_unicode
from ...errors import SettingsError
from ...watermarking import Tokenizations
from ..refusals import RefusedError

MOST_TEXTS = 1000
MOST_ID = (1 << 62) - 1  # one beyond 64 bits would not fit the array that it is put in
# A search takes up to some 50 times as long as reading. 64 KiB searched take about as long as the
# largest request that is read.
MOST_SEARCHED_BYTES = 64 << 10
FIELDS = ("text", "texts", "ids", "configuration", "tokenizations")

Item = str | list[int]
"""A text, or its token ids."""


@dataclass(frozen=True)
class Query:
    """What to look at.

    Attributes:
        items: texts or lists of ids.
        is_one: whether one answer is expected, and not a list.
        configuration: the name of the one to look for; None: all.
        tokenizations: see `WatermarkDetector.any`.
    """

    items: tuple[Item, ...]
    is_one: bool
    configuration: str | None
    tokenizations: Tokenizations = "read"


def query_of(body: bytes, names: Collection[str]) -> Query:
    """The query in the body of a request.

    Args:
        body: a JSON object in UTF-8.
        names: of the configurations that may be asked for.

    Raises:
        RefusedError: it is something else, or too large for what it asks. The error repeats no
            text.
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
    return Query(tuple(items), is_one, configuration, _tokenizations(values, len(body)))


def _tokenizations(values: dict[str, Any], size: int) -> Tokenizations:
    found, known = values.get("tokenizations"), get_args(Tokenizations)
    if found is None or found == "read":
        return "read"
    if found not in known:
        raise _refused(f"tokenizations: expected one of {', '.join(known)}, found something else")
    if size > MOST_SEARCHED_BYTES:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"tokenizations: expected at most {MOST_SEARCHED_BYTES:,} bytes with {found}, found "
            f"{size:,}; send fewer or shorter texts at a time",
        )
    chosen: Tokenizations = found
    return chosen


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
    return isinstance(value, list) and all(type(i) is int and 0 <= i <= MOST_ID for i in value)


def _refused(said: str) -> RefusedError:
    return RefusedError(HTTPStatus.BAD_REQUEST, said)
