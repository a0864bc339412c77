"""What a command with --json prints on standard output if it fails: an object with one error.

    {"error": {"kind": "OutsidePoolError", "message": "at character 36, …",
               "place": {"character": 36, "before": "…can only be ", "found": "q", …}}}

The line on standard error and the exit status are as without --json.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from ..errors import MissingPartsError, OutputFileError, OutsidePoolError, TextPlace, TicoreError
from . import streams
from .option_names import with_option_names

_AROUND = 60  # characters on each side of a place


def prints_errors_as_json(command: Callable[..., None]) -> Callable[..., None]:
    """A command that also prints its error as JSON, if it is called with `json=True`."""

    @wraps(command)
    def wrapped(*, json: bool = False, **values: Any) -> None:
        try:
            command(json=json, **values)
        except (TicoreError, OSError) as error:
            if json:
                with suppress(OutputFileError):  # then there is no standard output
                    streams.write_json({"error": error_as_json(error)})
            raise

    return wrapped


def error_as_json(error: TicoreError | OSError) -> dict[str, Any]:
    """An error in types that JSON has.

    Returns:
        `kind`, the name of its class, and `message`, as on standard error. Where a text leaves
        what can have been written, also `place`; where parts of a message are missing, `missing`,
        their numbers.
    """
    found: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": error_said(error),
    }
    if isinstance(error, OutsidePoolError) and error.place is not None:
        found["place"] = _place_as_json(error.place)
    if isinstance(error, MissingPartsError):
        found["missing"] = list(error.missing)
    return found


def error_said(error: TicoreError | OSError) -> str:
    """An error's text, in the words of the command line.

    That of the system says which file it is about, which Python keeps beside it.
    """
    if isinstance(error, TicoreError):
        return with_option_names(str(error))
    said = error.strerror or str(error)
    if error.filename is None:
        return said
    return f"cannot use {error.filename}: {said}; check its name, and what you may do there"


def _place_as_json(place: TextPlace) -> dict[str, Any]:
    return {
        "character": place.received_start,  # null if what was read does not stand there as it is
        "character_as_read": place.start,
        "before": place.before[-_AROUND:],
        "found": place.found,
        "after": place.text[place.end : place.end + _AROUND],
        "likely": list(place.likely),
    }
