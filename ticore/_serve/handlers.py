"""What an application answers where it cannot do what is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from .jobs import UNEXPECTED
from .refusals import RefusedError
from .security import refusal

Handler = Callable[[Request, Exception], Awaitable[Response]]


def handlers(not_found: str, not_allowed: str) -> dict[type[Exception], Handler]:
    """What Starlette does about each kind of error.

    Args:
        not_found: said of an address that there is not.
        not_allowed: said of another kind of request for an address.
    """

    async def not_there(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = not_found if error.status_code == HTTPStatus.NOT_FOUND else not_allowed
        answer = refusal(RefusedError(error.status_code, said))
        answer.headers.update(error.headers or {})
        return answer

    return {
        RefusedError: _refused,
        HTTPException: not_there,
        Exception: _failed,  # raised once more after it: Guarded logs it
    }


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal(error)


async def _failed(request: Request, error: Exception) -> Response:
    return refusal(RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED))
