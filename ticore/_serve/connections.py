"""Connections: bounded in number, and closed when they stay silent, or do not read.

A connection that has sent no request has shown no name, no token and no rate. Nor needs one that
does not read its answers, since a refusal is an answer, too. Neither may keep out those that ask
for something, or hold up the end of the server.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from .refusals import RefusedError
from .security import HEADERS, refusal

SECONDS_FOR_HEAD = 20.0
SECONDS_TO_READ = 20.0  # what is sent, once the buffers are full
SECONDS_TO_END = 2.0


class Connection(H11Protocol):
    """A connection that is closed if no whole head of a request arrives in time.

    So is one whose answers are not read.

    Where more than `limit_concurrency` are open, a new one takes the place of the one that has
    been silent longest. If none is silent, the new one is refused in words.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._answering = self.app
        self._most = self.limit_concurrency
        self.limit_concurrency = None  # uvicorn refuses without our headers, and not in JSON
        self._silence: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        if self._are_too_many():
            silent = [each for each in self.connections if isinstance(each, Connection)]
            silent = [each for each in silent if each.silent_until is not None]
            if silent:
                min(silent, key=lambda each: each.silent_until or 0.0).close()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._watch()
        self._stop_waiting_for_reader()

    def data_received(self, data: bytes) -> None:
        """Answer the requests in what has come."""
        self.app = _refuse if self._are_too_many() else self._answering
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait until what was sent is read, but not for ever."""
        super().pause_writing()
        self._unread = self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

    def resume_writing(self) -> None:
        """Send on."""
        super().resume_writing()
        self._stop_waiting_for_reader()

    def shutdown(self) -> None:
        """End with the server, also where nobody reads."""
        super().shutdown()
        if self._unread is not None:
            self.loop.call_later(SECONDS_TO_END, self.transport.abort)

    @property
    def silent_until(self) -> float | None:
        """When this connection is closed; None: it asks for something, or is closed already."""
        return None if self._silence is None else self._silence.when()

    def close(self) -> None:
        """End a connection that asks for nothing."""
        self.timeout_keep_alive_handler()
        self._watch()

    def _watch(self) -> None:
        """Set the time as long as no request is there, and only once: a byte a day is silence."""
        asks = self.cycle is not None and not self.cycle.response_complete
        if self._silence is not None and (asks or self.transport.is_closing()):
            self._silence.cancel()
            self._silence = None
        elif self._silence is None and not (asks or self.transport.is_closing()):
            self._silence = self.loop.call_later(SECONDS_FOR_HEAD, self.close)

    def _stop_waiting_for_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _are_too_many(self) -> bool:
        if self._most is None or len(self.connections) <= self._most:
            return False  # as nearly always; this is asked for all that comes
        still_open = sum(not each.transport.is_closing() for each in self.connections)
        return still_open > self._most


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    answer = refusal(
        RefusedError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "expected a free connection, found that all are at work; try again later",
        )
    )
    answer.headers.update(HEADERS | {"connection": "close"})
    await answer(scope, receive, send)
