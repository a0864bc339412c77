"""Which request gets which answer.

    GET /                   the page
    GET /ethics             what it is for, and what to know
    GET /static/NAME        the page's scripts and styles
    POST /do/NAME           does something: a JSON object in, lines of JSON out

Each line of an answer to POST is {"progress": …}, and the last one {"result": …} or {"error": …},
where "place" may show a part of a text.
A request that is refused has a status of 400 or more and the answer {"error": …}.
Only what is no HTTP, such as a request without a Host, is refused by the server itself, in plain
text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..report._detection_page import DETECTION_STYLE
from ..report._inspection_page import INSPECTION_STYLE
from ..report._page import style_of_pages
from ..report._place import PLACE_STYLE
from . import configurations, detecting, mark_sharing, marking, messages, sharing, tokens
from .bodies import read_body
from .choices import choices
from .fields import Fields
from .handlers import handlers
from .jobs import Event, Job, Jobs, Work
from .models import Models
from .security import Gate, Guarded

MOST_BYTES = 1 << 20
_TOKEN = "{{token}}"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REPORT_STYLE = "report.css"

Prepare = Callable[[Fields, Models], Work]
"""`f(fields, models)` checks what a request says, and gives the work to do for it."""


ACTIONS: Mapping[str, tuple[Prepare, tuple[str, ...]]] = {
    "choices": (choices, ()),
    "make-key": (sharing.make_key, ()),
    "make-agreement": (sharing.make_agreement, sharing.FIELDS),
    "open-agreement": (sharing.open_agreement, ("agreement",)),
    "write": (messages.write, messages.WRITE_FIELDS),
    "read": (messages.read, messages.READ_FIELDS),
    "inspect": (tokens.inspect, tokens.INSPECT_FIELDS),
    "make-mark-agreement": (mark_sharing.make_mark_agreement, mark_sharing.FIELDS),
    "open-mark-agreement": (mark_sharing.open_mark_agreement, ("agreement",)),
    "mark": (marking.mark, marking.MARK_FIELDS),
    "open-configurations": (configurations.open_configurations, ("configurations",)),
    "detect": (detecting.detect, detecting.DETECT_FIELDS),
}
"""What POST /do/NAME does, and the fields that it takes."""

_QUICK = frozenset(
    {"choices", "make-key", "open-agreement", "open-mark-agreement", "open-configurations"}
)
# They open no model. The page needs them also while all other places are taken.
_QUICK_AT_ONCE, _QUICK_SECONDS = 16, 20.0


def make_app(gate: Gate, jobs: Jobs, models: Models) -> Guarded:
    """The page as an ASGI application.

    Args:
        gate: decides which requests are answered.
        jobs: runs what they ask for, unless that is quickly done.
        models: what they may open.
    """
    static, quick_jobs = _static_files(), Jobs(_QUICK_AT_ONCE, _QUICK_SECONDS)

    async def page(request: Request) -> Response:
        text = static["page.html"].replace(_TOKEN, gate.token)
        return Response(text, media_type="text/html")

    async def ethics(request: Request) -> Response:
        return Response(static["ethics.html"], media_type="text/html")

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        kind = _TYPES.get(name[name.rfind(".") :], "")
        if name not in static or not kind:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(static[name], media_type=kind)

    async def act(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ACTIONS:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        prepare, fields = ACTIONS[name]
        work = prepare(
            Fields(
                await read_body(request, MOST_BYTES, "reload the page", "take a shorter text"),
                fields,
            ),
            models,
        )
        return JobResponse((quick_jobs if name in _QUICK else jobs).begin(work))

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/ethics", ethics),
            Route("/static/{name}", file),
            Route("/do/{name}", act, methods=["POST"]),
        ],
        exception_handlers=handlers(
            "expected an address of the page, found another; go to the page's beginning",
            "expected another kind of request for this address; reload the page",
        ),
    )
    app.router.redirect_slashes = False
    return Guarded(app, gate)


class JobResponse(StreamingResponse):
    """The events of a job, one per line. The job stops when nobody reads them any more."""

    def __init__(self, job: Job) -> None:
        super().__init__(_lines(job.events()), media_type="application/x-ndjson")
        self._job = job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.stop()


async def _lines(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    async for event in events:
        yield json.dumps(event).encode() + b"\n"


def _static_files() -> dict[str, str]:
    """The files of the page by name. Those are the only ones, so no path leads elsewhere."""
    folder = files(__package__) / "static"
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    return found | {_REPORT_STYLE: style_of_pages(INSPECTION_STYLE, DETECTION_STYLE, PLACE_STYLE)}
