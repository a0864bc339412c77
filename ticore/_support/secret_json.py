"""JSON that may hold a key, read such that no error shows it."""

from __future__ import annotations

import json

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
