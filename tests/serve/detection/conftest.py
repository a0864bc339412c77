"""The detection service called in this process, with detectors of toy keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import ticore
from tests.serve.conftest import Answer, Client, need

KEYS = {"first": bytes(range(32)), "second": bytes(range(1, 33))}
ENTRIES = tuple({"name": name, "scheme": "gumbel", "key": key} for name, key in KEYS.items())
HOST = "127.0.0.1:8000"
HEADERS = {"host": HOST, "content-type": "application/json"}


class Here:
    """Workers that work in this process."""

    def __init__(self, settings: Any) -> None:
        self._worker, self._detectors = need("detection.worker"), settings.open()
        self.names, self.place = self._detectors.names, nullcontext

    def require_life(self) -> None:
        """This process lives."""

    async def answered(self, body: bytes) -> tuple[int, bytes]:
        await asyncio.sleep(0)
        self._worker._opened = self._detectors
        found: tuple[int, bytes] = self._worker.answered(body, float("inf"))
        return found


class Service(Client):
    def ask(self, fields: object = None, body: bytes | None = None, **headers: str) -> Answer:
        given = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
        raw = [(name.encode(), value.encode()) for name, value in given.items()]
        data = json.dumps(fields).encode() if body is None else body
        return self.raw("POST", "/detect", raw, data)


@pytest.fixture(scope="session")
def settings() -> Any:
    return need("detection.detectors").DetectorSettings("tiny-en", ENTRIES)


@pytest.fixture(scope="session")
def make_service(settings: Any) -> Callable[..., Service]:
    here = Here(settings)

    def make(rate: float = float("inf"), **gate: Any) -> Service:
        gates = need("detection.gate")
        given = gates.ServiceGate(**{"names": frozenset({"127.0.0.1"})} | gate)
        return Service(
            need("detection.app").make_app(settings, here.names, here, given, gates.Rate(rate))
        )

    return make


@pytest.fixture(scope="session")
def service(make_service: Callable[..., Service]) -> Service:
    return make_service()


@pytest.fixture(scope="session")
def marked() -> str:
    """A text with the watermark of the second key."""
    model = ticore.load_model("tiny-en", dtype="float32")
    mark = ticore.Watermarker(model, "gumbel", key=KEYS["second"], seed=1, end_of_text=False)
    return mark.generate("One day", max_new_tokens=60).text
