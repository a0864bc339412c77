"""The body of a request, bounded in bytes and time."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.requests import Request

from .refusals import RefusedError

_SECONDS = 20.0


async def read_body(request: Request, most_bytes: int, advice: str, too_long: str) -> bytes:
    """A body of JSON, not yet parsed.

    Args:
        request: whose body has not been read.
        most_bytes: that it may have.
        advice: what to do about a body of another kind.
        too_long: what to do about one with more bytes.

    Raises:
        RefusedError: it is of another kind, too long, or does not arrive.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"expected the content type application/json, found another; {advice}",
        )
    body = bytearray()
    try:
        async with asyncio.timeout(_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > most_bytes:
                    raise RefusedError(
                        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                        f"expected at most {most_bytes:,} bytes, found more; {too_long}",
                    )
    except TimeoutError:
        raise RefusedError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"expected the whole request within {_SECONDS:g} seconds, found a part of it; try "
            f"again",
        ) from None
    return bytes(body)
