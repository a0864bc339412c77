"""Which requests are answered, and what every answer forbids the browser.

The page runs on a person's own computer, where any web site that they visit can send requests to
it. Each rule shuts one door:

- The `Host` must be a name of this computer. A foreign name that was made to point here (DNS
  rebinding) is refused. An address in digits cannot be made to point anywhere else.
- A request that does something needs a header with a secret that only the page itself has been
  told. Other sites cannot read the page, and cannot send the header.
- Its `Origin` and `Sec-Fetch-Site`, which browsers set and sites cannot, must be the page's own.
- Answers carry a policy under which a browser runs no script but the page's own files, fetches
  nothing from elsewhere, shows the page in no frame and stores nothing.

What is no HTTP, such as a request without a `Host`, never comes here: the server itself refuses it,
in plain text and without these headers.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from .jobs import UNEXPECTED, log_unexpected
from .refusals import RefusedError

TOKEN_HEADER = "x-ticore-token"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every answer to a request in HTTP."""

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^][:/@\s]+)(?::\d{1,5})?")
_ENDS = (
    "expected the program to run until the answer is there, found that it was told to end; ask "
    "again when it has been started again"
)
_RELOAD = "open the page again at the address that `ticore serve` printed"


@dataclass(frozen=True)
class Gate:
    """Decides which requests are answered.

    Attributes:
        names: host names and addresses by which the page may be asked for, in small letters.
        any_address: whether any other address in digits will do as well.
        token: the secret of the page.
    """

    names: frozenset[str] = LOOPBACK_NAMES
    any_address: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Raises RefusedError if a request is not to be answered."""
        host = require_host(headers, self.names, any_address=self.any_address, advice=_RELOAD)
        if method in ("GET", "HEAD"):
            return  # it does nothing, and its answer tells other sites nothing
        origin = _only(headers, "origin").lower()
        if origin and origin not in (f"http://{host}", f"https://{host}"):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                f"expected a request of the page itself, found another site; {_RELOAD}",
            )
        if _only(headers, "sec-fetch-site") not in ("", "same-origin"):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                f"expected a request of the page itself, found another site; {_RELOAD}",
            )
        given = _only(headers, TOKEN_HEADER).encode("latin-1", "replace")
        if not secrets.compare_digest(given, self.token.encode()):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                "expected the secret that the page was given, found none or another; reload the "
                "page, since the program may have been started again",
            )


def require_host(
    headers: Headers, names: Collection[str], *, any_address: bool, advice: str
) -> str:
    """The host that a request asks for, with its port, in small letters.

    Args:
        headers: of the request.
        names: host names and addresses that may be asked for.
        any_address: whether any other address in digits will do as well.
        advice: what to do about another host.

    Raises:
        RefusedError: it is another one.
    """
    host = _only(headers, "host").lower()
    found = _HOST.fullmatch(host)
    if found is None or not (found[1] in names or (any_address and _is_address(found[1]))):
        raise RefusedError(
            HTTPStatus.MISDIRECTED_REQUEST,
            f"expected a request to this computer, found another name; {advice}",
        )
    return host


class Asked(Protocol):
    """What decides which requests are answered: `Gate`, or that of another application."""

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Raises RefusedError if a request is not to be answered."""


class Guarded:
    """An application with a gate before it. It sets HEADERS on every answer, and lets no error out.

    Args:
        app: what answers.
        gate: decides.
    """

    def __init__(self, app: ASGIApp, gate: Asked) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            try:
                self._gate.check(scope["method"], scope["path"], Headers(scope=scope))
            except RefusedError as refused:
                await refusal(refused)(scope, receive, send_guarded)
                return
            await self._app(scope, receive, send_guarded)
        except (ClientDisconnect, ClientDisconnected):
            return  # nobody is there to answer
        except asyncio.CancelledError:  # the server ends, and waits no longer for this request
            if not begun:
                ends = RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, _ENDS)
                await refusal(ends)(scope, receive, send_guarded)
        except Exception as error:  # the server would log its text
            log_unexpected(error)
            if not begun:
                failed = RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, UNEXPECTED)
                await refusal(failed)(scope, receive, send_guarded)


def refusal(refused: RefusedError) -> JSONResponse:
    """The answer to a request that is refused."""
    headers = {"www-authenticate": "Bearer"} if refused.status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse({"error": refused.said}, refused.status, headers)


def _only(headers: Headers, name: str) -> str:
    """The value of a header; empty if it is missing. Raises RefusedError if it is there twice."""
    found = headers.getlist(name)
    if len(found) > 1:
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, f"expected one header {name}, found {len(found)}; {_RELOAD}"
        )
    return found[0] if found else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
