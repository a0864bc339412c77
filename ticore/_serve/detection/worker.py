"""What each process does: it opens the detectors once, and answers requests.

All that takes time with the length of a request is done here, from reading its JSON to writing the
answer's. In the process that answers requests it would hold up all others.
"""

from __future__ import annotations

import json
import time
from http import HTTPStatus
from typing import Any

from ..._support.parent_process import end_with_parent
from ...errors import CapacityError, TicoreError
from ..refusals import RefusedError
from .answers import answer
from .detectors import Detectors, DetectorSettings
from .query import Query, query_of

_TOO_LONG = CapacityError(
    "expected a text that there is memory for, found a longer one; send it in parts"
)
_opened: Detectors | None = None  # of this process


def start(settings: DetectorSettings) -> None:
    """Open the detectors that this process looks with."""
    global _opened  # noqa: PLW0603  # a process of the pool is told once what it looks for
    end_with_parent()  # it holds keys
    _opened = settings.open()


def nothing() -> None:
    """Work for a process that is only to be started."""


def answered(body: bytes, until: float) -> tuple[int, bytes]:
    """The status and the body of the answer to a request.

    Args:
        body: of the request.
        until: when nobody waits for it any more, by the clock `time.monotonic`, which all
            processes share.

    Raises:
        TimeoutError: nobody waits.
    """
    assert _opened is not None
    _require_time(until)
    try:
        query = query_of(body, _opened.names)
    except RefusedError as refused:
        return refused.status, _json({"error": refused.said})
    found = _answers(_opened, query, until)
    if not query.is_one:
        return HTTPStatus.OK, _json({"results": found})
    status = HTTPStatus.UNPROCESSABLE_ENTITY if "error" in found[0] else HTTPStatus.OK
    return status, _json(found[0])


def _answers(opened: Detectors, query: Query, until: float) -> list[dict[str, Any]]:
    detector, found = opened.named(query.configuration, query.tokenizations), []
    for item in query.items:
        _require_time(until)
        try:
            detection = (
                detector.detect(item) if isinstance(item, str) else detector.detect_ids(item)
            )
            found.append(answer(detection))
        except TicoreError as error:
            found.append(answer(error))
        except MemoryError:
            found.append(answer(_TOO_LONG))
    return found


def _require_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
