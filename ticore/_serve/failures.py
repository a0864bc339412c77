"""Why work failed, in words, and where in a text if that is known."""

from __future__ import annotations

from typing import Any

from ..errors import OutsidePoolError, TicoreError
from ..report._place import place_body
from .page_words import with_page_words

_LONGEST = 2000  # characters of an error


def failure(error: TicoreError) -> dict[str, Any]:
    """The event of a job that failed: `error`, and perhaps `place`, which is HTML."""
    said = {"error": with_page_words(str(error))[:_LONGEST]}
    if isinstance(error, OutsidePoolError) and error.place is not None:
        said["place"] = "".join(place_body(error.place))
    return said
