"""JSON that may hold a key, read such that no error shows it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..errors import shown

_LONG = 32  # characters: no field has such a name, but a key in the wrong place has
NOT_JSON = object()
"""Stands for a text that is no JSON."""


def parsed_json(text: str | bytes) -> object:
    """What the JSON says, or `NOT_JSON`.

    No exception leaves this function. JSON's own error carries the whole text, and so the key, and
    it would stay attached to every error that is raised while it is handled.

    >>> parsed_json('{"a": 1}'), parsed_json("{") is NOT_JSON
    ({'a': 1}, True)
    """
    if not isinstance(text, str | bytes):
        return NOT_JSON
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON
    return found


def wrong_fields(values: Iterable[object], expected: Iterable[str]) -> str:
    """What is wrong with the names of an agreement's fields; empty if they are the expected ones.

    A long name may be the key in the wrong place, and is shown as `ticore.errors.shown` does.

    >>> wrong_fields({"key": 1, "colour": 2}, ["key", "scheme"])[:62]
    'the fields are not the expected ones (missing scheme; unknown '
    """
    names, found = set(expected), {str(name) for name in values}
    problems = [
        f"{kind} {', '.join(each if len(each) < _LONG else shown(each) for each in sorted(which))}"
        for kind, which in (("missing", names - found), ("unknown", found - names))
        if which
    ]
    if not problems:
        return ""
    return (
        f"the fields are not the expected ones ({'; '.join(problems)}); was it written by another "
        f"version of ticore?"
    )
