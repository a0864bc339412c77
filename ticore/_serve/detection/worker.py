"""What each process does: it opens the detectors once, and answers requests.

All that takes time with the length of a request is done here, from reading its JSON to writing the
answer's. In the process that answers requests it would hold up all others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from ..._support.parent_process import end_with_parent
from ..._support.ticks import Tick
from ...errors import CapacityError, SettingsError, TicoreError
from ...watermarking import AnyDetection, AnyWatermarkDetector
from ..refusals import RefusedError
from .answers import answer
from .detectors import Detectors, DetectorSettings
from .query import Item, Query, query_of

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
        detector = _opened.named(query.configuration, query.tokenizations)
    except RefusedError as refused:
        return refused.status, _json({"error": refused.said})
    except SettingsError as error:  # a search for what is not searched
        return HTTPStatus.BAD_REQUEST, _json({"error": str(error)})
    found = _answers(detector, query, until)
    if not query.is_one:
        return HTTPStatus.OK, _json({"results": found})
    status = HTTPStatus.UNPROCESSABLE_ENTITY if "error" in found[0] else HTTPStatus.OK
    return status, _json(found[0])


def _answers(detector: AnyWatermarkDetector, query: Query, until: float) -> list[dict[str, Any]]:
    tick = partial(_require_time, until)
    with suppress(MemoryError):
        return list(map(answer, _looked_at(detector, query.items, tick)))
    found = list[dict[str, Any]]()
    for item in query.items:  # one by one they may find room
        try:
            found += map(answer, _looked_at(detector, [item], tick))
        except MemoryError:
            found.append(answer(_TOO_LONG))
    return found


def _looked_at(
    detector: AnyWatermarkDetector, items: Sequence[Item], tick: Tick
) -> list[AnyDetection | TicoreError]:
    """What is found in each item; all are texts, or all are lists of ids."""
    texts = [item for item in items if isinstance(item, str)]
    if texts:
        return detector.detect_batch(texts, tick=tick)
    lists = [item for item in items if not isinstance(item, str)]
    return detector.detect_ids_batch(lists, tick=tick)


def _require_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
