"""The service as a whole process: many clients at once, and a process that dies."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import ticore
from tests.serve.conftest import need

from .conftest import KEYS

need("server")
pytestmark = pytest.mark.slow

TEXTS = [
    f"Chapter {n}. " + "It was a long story about many things. " * (n % 5 + 1) for n in range(64)
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, int]]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "first.key").write_text(KEYS["first"].hex())
    (folder / "first.key").chmod(0o600)
    listed = [{"name": "first", "scheme": "gumbel", "key_file": "first.key"}]
    (folder / "list.json").write_text(json.dumps(listed))
    command = ["detect-server", "--config", str(folder / "list.json"), "--port", "0"]
    code = f"import sys; from ticore._cli.main import run; sys.exit(run({command}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path.cwd(),
        start_new_session=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    port = re.search(r":(\d+)/detect", said)
    assert port, said
    yield process, int(port[1])
    process.kill()
    process.wait()
    process.stderr.close()


def asked(port: int, body: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/detect", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_nothing_is_lost_or_mixed_when_many_ask_at_once(service: tuple[Any, int]) -> None:
    process, port = service
    entries = [{"name": "first", "scheme": "gumbel", "key": KEYS["first"]}]
    detector = ticore.WatermarkDetector.any(
        ticore.load_tokenizer("tiny-en"), entries, tokenizer_place="tiny-en"
    )
    expected = [json.loads(json.dumps(detector.detect(text).to_dict())) for text in TEXTS]

    def one(number: int) -> None:
        if number % 3 == 0:
            assert asked(port, "{" * (number + 1))[0] == 400
        status, found = asked(port, json.dumps({"text": TEXTS[number]}))
        assert (status, found["detection"]) == (200, expected[number])

    with ThreadPoolExecutor(64) as clients:
        list(clients.map(one, range(64)))
        for child in _children(process.pid):
            with suppress(ProcessLookupError):  # a pool that lost one process ends the others
                os.kill(child, signal.SIGKILL)
        list(clients.map(one, range(8)))

    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does, which reaches all of them
    assert process.wait(30) == 0
    assert process.stderr.read().strip() == ""


def _children(pid: int) -> list[int]:
    if not sys.platform.startswith("linux"):
        return []
    found = Path(f"/proc/{pid}/task/{pid}/children")
    commands = {
        int(each): Path(f"/proc/{each}/cmdline").read_bytes() for each in found.read_text().split()
    }
    return [child for child, command in commands.items() if b"spawn_main" in command]
