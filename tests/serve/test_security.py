"""Which requests are answered, and what every answer forbids the browser."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from .conftest import TOKEN, Client, MakeClient, need

Gate, Guarded = need("security").Gate, need("security").Guarded


@pytest.mark.parametrize("path", ["/", "/ethics", "/static/main.js", "/static/none", "/elsewhere"])
def test_every_answer_forbids_what_the_page_does_not_need(client: Client, path: str) -> None:
    found = client.get(path).headers
    policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["form-action"] == "'none'"
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == "no-store"


def test_refusals_and_results_have_the_same_headers(client: Client) -> None:
    names = client.get("/").headers.keys() - {"content-length"}
    assert names <= client.get("/", host="evil.example").headers.keys()
    assert names <= client.do("make-key").headers.keys()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "a@127.0.0.1", "10.0.0.1"]
)
def test_foreign_host_is_refused_in_words(client: Client, host: str) -> None:
    found = client.get("/", host=host)
    assert found.status == 421
    assert "expected a request to this computer" in found.error
    assert TOKEN.encode() not in found.body


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8000", "LOCALHOST:80"])
def test_names_of_this_computer_are_answered(client: Client, host: str) -> None:
    assert client.get("/", host=host).status == 200


@pytest.mark.parametrize("begun", [False, True])
def test_request_that_the_end_of_the_server_cuts_short_is_refused_if_nothing_was_said(
    begun: bool,
) -> None:
    sent = list[dict[str, Any]]()

    async def works(scope: Any, receive: Any, send: Any) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def cut_short() -> None:
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
        task = asyncio.create_task(Guarded(works, Gate())(scope, None, send))
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(cut_short())
    assert sent[0]["status"] == (200 if begun else 503)
    assert len(sent) == (1 if begun else 2)
    if not begun:
        assert "was told to end" in json.loads(sent[1]["body"])["error"]


def test_without_or_with_two_hosts_is_refused(client: Client) -> None:
    assert client.get("/", host=None).status == 421
    assert client.raw("GET", "/", [(b"host", b"localhost")] * 2).status == 400


def test_addresses_in_digits_are_answered_if_the_network_is_allowed(
    make_client: MakeClient,
) -> None:
    client = make_client(any_address=True)
    assert client.get("/", host="10.0.0.1:8000").status == 200
    assert client.get("/", host="[fe80::1]:8000").status == 200
    assert client.get("/", host="evil.example").status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"x_ticore_token": None},
        {"x_ticore_token": "another"},
        {"x_ticore_token": "é"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8001"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
def test_request_of_another_site_does_nothing(
    client: Client, headers: dict[str, str | None]
) -> None:
    found = client.post("/do/make-key", **headers)
    assert found.status == 403
    assert found.error.startswith("expected ")


def test_a_program_that_knows_the_token_needs_no_browser(client: Client) -> None:
    assert "key" in client.post("/do/make-key", origin=None, sec_fetch_site=None).result


def test_each_process_has_a_token_of_its_own() -> None:
    gates = Gate(), Gate()
    assert gates[0].token != gates[1].token
    assert len(gates[0].token) >= 40
    assert gates[0].token not in repr(gates[0])


def test_page_holds_the_token_and_no_inline_script_or_style(client: Client) -> None:
    page = client.get("/").body.decode()
    assert f'content="{TOKEN}"' in page
    for path in ("/", "/ethics"):
        text = client.get(path).body.decode()
        assert "<style" not in text
        assert "style=" not in text
        assert " on" not in [part[:3] for part in text.split('="')]
        assert "<script>" not in text
        assert "http://" not in text
        assert "https://" not in text
