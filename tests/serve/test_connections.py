"""Connections that ask for nothing are closed, and do not keep out others."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import need

connections = need("connections")
uvicorn = pytest.importorskip("uvicorn", reason="needs the extra serve")
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed, self.aborted = b"", False, False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """What is read is given in the tests."""

    resume_reading = pause_reading


class Server:
    """Makes connections in the running loop, with a clock that tests move on."""

    def __init__(self, app: Any, most: int) -> None:
        self._config = uvicorn.Config(
            app,
            http=connections.Connection,
            limit_concurrency=most,
            lifespan="off",
            log_config=None,
            proxy_headers=False,
        )
        self._state = uvicorn.server.ServerState()
        self._due: list[tuple[float, asyncio.TimerHandle]] = []
        self.now = 0.0
        self.create_task = asyncio.get_running_loop().create_task

    def call_later(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        when = self.now + delay
        handle = asyncio.TimerHandle(when, callback, (), asyncio.get_running_loop())
        self._due.append((when, handle))
        return handle

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for when, handle in self._due:
            if when <= self.now and not handle.cancelled():
                handle._run()
        self._due = [(when, handle) for when, handle in self._due if when > self.now]

    def connect(self) -> tuple[Any, Transport]:
        made = connections.Connection(self._config, self._state, {}, self)
        transport = Transport()
        made.connection_made(transport)
        return made, transport


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


async def _steps() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_connection_is_closed_when_no_head_of_a_request_comes() -> None:
    async def checked() -> None:
        server = Server(_answer, most=9)
        (_, silent), (slow, trickles), (asks, answered) = (server.connect() for _ in range(3))
        asks.data_received(REQUEST)
        await _steps()
        assert answered.written.endswith(b"\r\nhere\r\n0\r\n\r\n")
        for byte in REQUEST[:19]:
            server.wait(1)
            slow.data_received(bytes([byte]))
        assert not silent.closed
        assert not trickles.closed
        server.wait(1)
        assert silent.closed
        assert trickles.closed

    asyncio.run(checked())


def test_a_connection_stays_open_while_its_request_is_at_work() -> None:
    async def checked() -> None:
        goes_on = asyncio.Event()

        async def slowly(scope: Any, receive: Any, send: Any) -> None:
            await goes_on.wait()
            await _answer(scope, receive, send)

        server = Server(slowly, most=9)
        connection, transport = server.connect()
        connection.data_received(REQUEST)
        await _steps()
        server.wait(100)
        assert not transport.closed
        goes_on.set()
        await _steps()
        assert transport.written.endswith(b"\r\nhere\r\n0\r\n\r\n")
        connection.data_received(REQUEST[:5])  # ends the wait that uvicorn itself has
        server.wait(19)
        assert not transport.closed
        server.wait(1)
        assert transport.closed

    asyncio.run(checked())


def test_the_longest_silent_connection_makes_room_for_a_new_one() -> None:
    async def checked() -> None:
        server = Server(_answer, most=2)
        _, first = server.connect()
        server.wait(1)
        _, second = server.connect()
        third, transport = server.connect()
        assert (first.closed, second.closed, transport.closed) == (True, False, False)
        third.data_received(REQUEST)
        await _steps()
        assert transport.written.startswith(b"HTTP/1.1 200 ")

    asyncio.run(checked())


def test_too_many_at_work_are_refused_in_words_with_the_usual_headers() -> None:
    async def checked() -> None:
        async def endless(scope: Any, receive: Any, send: Any) -> None:
            await asyncio.Event().wait()

        server = Server(endless, most=1)
        server.connect()[0].data_received(REQUEST)
        more, transport = server.connect()
        more.data_received(REQUEST)
        await _steps()
        head, _, body = transport.written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"content-security-policy: default-src 'none'" in head
        assert "expected a free connection" in json.loads(body)["error"]
        assert transport.closed

    asyncio.run(checked())


def test_a_connection_whose_answers_are_not_read_is_closed() -> None:
    async def checked() -> None:
        server = Server(_answer, most=9)
        (slow, read_again), (deaf, never_read) = server.connect(), server.connect()
        for connection in (slow, deaf):
            connection.pause_writing()  # its buffer is full
        server.wait(19)
        slow.resume_writing()
        server.wait(1)
        assert (read_again.closed, never_read.closed) == (True, True)  # the first was silent, too
        assert (read_again.aborted, never_read.aborted) == (False, True)

    asyncio.run(checked())


def test_a_connection_that_does_not_read_does_not_hold_up_the_end() -> None:
    async def checked() -> None:
        server = Server(_answer, most=9)
        connection, transport = server.connect()
        connection.pause_writing()
        connection.shutdown()
        server.wait(2)
        assert transport.aborted

    asyncio.run(checked())


def test_the_servers_connections_are_these(monkeypatch: pytest.MonkeyPatch) -> None:
    listening = need("listening")
    made = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: made.append(server.config))
    monkeypatch.setattr(listening, "most_files", lambda: 256)
    with socket.socket() as listens:
        listening.run(_answer, listens, 5)
        listening.run(_answer, listens, 512)
    assert {each.http for each in made} == {connections.Connection}
    assert [each.limit_concurrency for each in made] == [5, 128]
    assert [each.backlog for each in made] == [64, 64]
    assert {each.log_level for each in made} == {"critical"}
