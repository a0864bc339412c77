"""Which request gets which answer.

    POST /detect            looks for watermarks in a text, many texts, or token ids
    GET /configurations     the names of what is looked for
    GET /healthz            whether the service works; the only one that needs no token
    GET /openapi.json       a description that programs read

A request that is refused has a status of 400 or more and the answer {"error": ...}.
Only what is no HTTP, such as a request without a Host, is refused by the server itself, in plain
text.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..._version import __version__
from ..bodies import read_body
from ..handlers import handlers
from ..security import Guarded
from .detectors import DetectorSettings
from .gate import HEALTH, Rate, ServiceGate
from .openapi import description
from .workers import Workers

MOST_BYTES = 4 << 20
_NOT_THERE = (
    "expected POST /detect, or GET of /configurations, /healthz or /openapi.json, found another "
    "request"
)


def make_app(
    settings: DetectorSettings,
    names: Sequence[str],
    workers: Workers,
    gate: ServiceGate,
    rate: Rate,
) -> Guarded:
    """The service as an ASGI application.

    Args:
        settings: what is looked for.
        names: of that, one by one.
        workers: look for it.
        gate, rate: decide which requests are answered.
    """

    async def detect(request: Request) -> Response:
        rate.take(request.client.host if request.client else "")
        with workers.place():
            body = await read_body(request, MOST_BYTES, "send JSON", "send fewer texts at a time")
            status, answer = await workers.answered(body)
        return Response(answer, status, media_type="application/json")

    async def configurations(request: Request) -> Response:
        return JSONResponse(
            {"configurations": [*names], "tokenizer": settings.tokenizer, "fpr": settings.fpr}
        )

    async def health(request: Request) -> Response:
        workers.require_life()
        return JSONResponse({"status": "ok", "version": __version__})

    async def openapi(request: Request) -> Response:
        return JSONResponse(description(MOST_BYTES))

    app = Starlette(
        routes=[
            Route("/detect", detect, methods=["POST"]),
            Route("/configurations", configurations),
            Route(HEALTH, health),
            Route("/openapi.json", openapi),
        ],
        exception_handlers=handlers(_NOT_THERE, _NOT_THERE),
    )
    app.router.redirect_slashes = False
    return Guarded(app, gate)
