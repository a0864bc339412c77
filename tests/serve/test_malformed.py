"""Whatever a request holds, the answer is the page's own: never a 500, never a traceback."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.slow import examples

from .conftest import HEADERS, Client

# What has to be there for a body to be read at all, or anything else in its place.
FIELDS = ("agreement", "model", "key", "prompt", "channel", "security", "message", "text", "ids")
FIELDS = (*FIELDS, "scheme", "length", "words")
ACTIONS = ("choices", "make-key", "make-agreement", "open-agreement", "write", "read", "inspect")
ACTIONS = (*ACTIONS, "make-mark-agreement", "open-mark-agreement", "mark", "detect", "none", "")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters())
    | st.sampled_from(["tiny-en", "5a" * 32, "chat", "identity", "compact", "\ud800", "x" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
# No whole key together with a message or a text: that would be a long job, not a malformed one.
some_fields = st.dictionaries(
    st.sampled_from([name for name in FIELDS if name != "key"]) | st.text(), values, max_size=6
)
bodies = st.binary(max_size=200) | some_fields.map(
    lambda fields: json.dumps(fields, ensure_ascii=True).encode()
)
names = st.sampled_from([*HEADERS, "x-forwarded-host", "content-length", "transfer-encoding"])
odd_headers = st.lists(st.tuples(names.map(str.encode), st.binary(max_size=40)), max_size=3)
methods = st.sampled_from(["POST", "POST", "POST", "GET", "HEAD", "PUT", "OPTIONS", "\xff"])
paths = st.sampled_from([f"/do/{name}" for name in ACTIONS]) | st.sampled_from(
    ["/", "/static/../app.py", "/static/", "/static/page.html", "//", "/do", "/ethics/", "/\x00"]
)


def check(client: Client, method: str, path: str, headers: list, body: bytes, usual: bool) -> None:
    given_names = {name for name, _ in headers}
    base = [(k.encode(), v.encode()) for k, v in HEADERS.items() if usual or k == "host"]
    kept = [(name, value) for name, value in base if name not in given_names]
    found = client.raw(method, path, kept + headers, body)
    assert found.status < 500
    assert b"Traceback" not in found.body
    assert 'File "' not in found.body.decode()
    assert "content-security-policy" in found.headers
    if found.status >= 400 and method != "HEAD":
        assert list(json.loads(found.body)) == ["error"]


requests = given(
    method=methods, path=paths, headers=odd_headers | st.just([]), body=bodies, usual=st.booleans()
)


@requests
@settings(max_examples=150)
def test_malformed_requests_are_refused(
    client: Client, method: str, path: str, headers: list, body: bytes, usual: bool
) -> None:
    check(client, method, path, headers, body, usual)


@pytest.mark.slow
@requests
@settings(max_examples=examples(600, thorough=10_000))
def test_many_malformed_requests_are_refused(
    client: Client, method: str, path: str, headers: list, body: bytes, usual: bool
) -> None:
    check(client, method, path, headers, body, usual)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b'{"text": "\\ud800"}',
        b'{"text": 1}',
        b'{"text": "x", "other": 1}',
        b"[" * 100_000,
        b'{"text": ' + b"9" * 10_000 + b"}",
    ],
)
def test_body_that_is_no_object_of_known_fields_is_refused(client: Client, body: bytes) -> None:
    found = client.post("/do/inspect", body)
    assert found.status == 400
    assert "expected" in found.error


def test_other_content_type_is_refused(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", None):
        assert client.post("/do/make-key", content_type=kind).status == 415
