"""`ticore serve` before it serves: what it refuses, and the extra that it needs."""

from __future__ import annotations

import builtins
import json
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest

from ticore._cli.serving import until_interrupted

from .conftest import Ticore


def test_without_the_extra_the_error_says_how_to_install_it(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("ticore._serve.")]:
        monkeypatch.delitem(sys.modules, name)
    imported = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.partition(".")[0] in ("starlette", "uvicorn"):
            raise ModuleNotFoundError(name=name)
        return imported(name, *rest)  # type: ignore[arg-type]  # passed on as given

    monkeypatch.setattr(builtins, "__import__", without)
    ticore("serve").assert_error(1, "which is not installed; ")


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("0.0.0.0", "give --unencrypted-network as well"),
        ("no.such.name.invalid", "which is not known"),
        ("\x00", "which is not known"),
    ],
)
def test_host_of_others_is_refused(ticore: Ticore, host: str, said: str) -> None:
    pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    ticore("serve", "--host", host).assert_error(2, said)


@pytest.fixture
def detect_server(tmp_path: Path) -> list[object]:
    config = tmp_path / "list.json"
    config.write_text(json.dumps([{"scheme": "gumbel", "key": "5a" * 32}]))
    config.chmod(0o600)
    return ["detect-server", "--config", config]


def test_host_of_others_is_refused_in_words_of_what_is_served(
    ticore: Ticore, detect_server: list[object]
) -> None:
    pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    host = ["--host", "0.0.0.0"]
    ticore("serve", *host).assert_error(2, "use the page there and read keys and messages on")
    ticore(*detect_server, *host).assert_error(2, "ask the service there and read texts and tokens")


def test_port_that_is_taken_is_refused(ticore: Ticore, detect_server: list[object]) -> None:
    pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = "choose another --port; 0 takes a free one"
        ticore("serve", "--port", port).assert_error(2, said)
        ticore(*detect_server, "--port", port).assert_error(2, said)


@pytest.mark.parametrize("option", ["--port=65536", "--port=-1", "--jobs=0", "--time-limit=0"])
def test_number_out_of_range_is_wrong_usage(ticore: Ticore, option: str) -> None:
    pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    ticore("serve", option).assert_error(2, "expected")


@pytest.mark.parametrize("option", ["--processes=0", "--processes=1025", "--time-limit=0"])
def test_number_out_of_range_is_wrong_usage_of_the_service(
    ticore: Ticore, detect_server: list[object], option: str
) -> None:
    pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    ticore(*detect_server, option).assert_error(2, "expected")


def test_the_page_answers_while_a_browser_is_waited_for(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some browsers do not return before they have the page, or before they are closed."""
    server = pytest.importorskip("ticore._serve.server", reason="needs the extra serve")
    opened, answering = list[str](), threading.Event()

    def open_and_wait(address: str) -> None:
        assert answering.wait(20)
        opened.append(address)

    def serve(*_: object, started: Callable[[str], None], **__: object) -> None:
        started("http://127.0.0.1:1/")
        answering.set()
        for thread in threading.enumerate():
            if thread.name == "browser":
                thread.join(20)

    monkeypatch.setattr(webbrowser, "open", open_and_wait)
    monkeypatch.setattr(server, "serve", serve)
    assert ticore("serve", "--browser").status == 0
    assert opened == ["http://127.0.0.1:1/"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_end_is_the_usual_end(number: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # another one than the one that is set
    try:
        with until_interrupted():
            assert signal.getsignal(number) is signal.default_int_handler
            signal.raise_signal(number)
            pytest.fail("it went on")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
