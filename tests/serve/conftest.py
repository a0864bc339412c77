"""The page's application called in this process, with any headers and any body."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from ticore._serve.jobs import Jobs
from ticore._serve.models import Models

HOST = "127.0.0.1:8000"
TOKEN = "the-token"
HEADERS = {
    "host": HOST,
    "origin": f"http://{HOST}",
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
    "x-ticore-token": TOKEN,
}
"""What the page itself sends."""


def need(module: str) -> Any:
    """A module of the page; the test is skipped where the extra is not installed."""
    return pytest.importorskip(f"ticore._serve.{module}", reason="needs the extra serve")


RawHeaders = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        assert "result" in self.events[-1], self.events[-1]
        return self.events[-1]["result"]

    @property
    def error(self) -> str:
        return self.events[-1]["error"]


@dataclass(frozen=True)
class Client:
    """Calls an application as a server does."""

    app: Any

    def raw(self, method: str, path: str, headers: RawHeaders, body: bytes = b"") -> Answer:
        return asyncio.run(self._answer(method, path, list(headers), body))

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.raw("GET", path, _raw({"host": HOST} | _named(headers)))

    def post(self, path: str, body: bytes = b"{}", **headers: str | None) -> Answer:
        return self.raw("POST", path, _raw(HEADERS | _named(headers)), body)

    def do(self, action: str, **fields: object) -> Answer:
        return self.post(f"/do/{action}", json.dumps(fields).encode())

    async def _answer(
        self, method: str, path: str, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> Answer:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
        }
        parts, sent = [body], list[dict[str, Any]]()

        async def receive() -> dict[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": False}
            await asyncio.sleep(3600)  # the connection stays open
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], found, b"".join(part.get("body", b"") for part in sent[1:]))


def _named(headers: dict[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _raw(headers: dict[str, str | None]) -> RawHeaders:
    return [(name.encode(), value.encode()) for name, value in headers.items() if value is not None]


MakeClient = Callable[..., Client]


@pytest.fixture(scope="session")
def make_client() -> MakeClient:
    app, security = need("app"), need("security")
    models = Models()

    def make(at_once: int = 2, seconds: float = 60, **gate: Any) -> Client:
        return Client(
            app.make_app(security.Gate(token=TOKEN, **gate), Jobs(at_once, seconds), models)
        )

    return make


@pytest.fixture(scope="session")
def client(make_client: MakeClient) -> Client:
    return make_client()
