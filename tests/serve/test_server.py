"""The server on a socket of this computer: a whole process, as a person starts it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from .conftest import need

need("server")


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[subprocess.Popen[str], int]]:
    code = "import sys; from ticore._cli.main import run; sys.exit(run(['serve', '--jobs', '1']))"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = re.search(r":(\d+)/", process.stderr.readline())
    assert port
    yield process, int(port[1])
    process.kill()
    process.stderr.close()


@pytest.mark.slow
def test_closed_connection_stops_the_work_and_an_interrupt_the_server(
    server: tuple[subprocess.Popen[str], int],
) -> None:
    process, port = server
    page = _request(port, "GET", "/")
    found = re.search(rb'ticore-token" content="([^"]*)"', page.read())
    assert found
    token = found[1].decode()
    assert "server" not in {name.lower() for name, _ in page.getheaders()}

    long = {"key": "5a" * 32, "prompt": "One day", "message": bytes(range(60)).hex()}
    writing = _request(port, "POST", "/do/write", token, long)
    assert b"progress" in writing.readline()
    short = {"model": "tiny-en", "text": "One day"}
    assert _request(port, "POST", "/do/inspect", token, short).status == 503  # one job at a time
    writing.close()
    for _ in range(100):
        if _request(port, "POST", "/do/inspect", token, short).status == 200:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the work went on after the connection was closed")

    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert process.stderr is not None
    assert process.stderr.read().strip() == ""


def _request(
    port: int, method: str, path: str, token: str = "", fields: object = None
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps(fields or {}) if method == "POST" else None
    headers = {"X-Ticore-Token": token, "Content-Type": "application/json", "Connection": "close"}
    connection.request(method, path, body, headers)
    return connection.getresponse()
