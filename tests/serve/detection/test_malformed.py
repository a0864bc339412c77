"""Whatever a request holds, it is answered or refused in words."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from .conftest import Service

_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
_requests = st.dictionaries(
    st.sampled_from(["text", "texts", "ids", "configuration", "tokenizations", "other"]),
    _values,
    max_size=3,
)


@settings(max_examples=200)
@given(body=st.binary(max_size=30) | _requests.map(lambda fields: json.dumps(fields).encode()))
def test_a_malformed_request_gets_an_error_of_its_own(service: Service, body: bytes) -> None:
    found = service.ask(body=body)
    assert found.status in (200, 400, 422)
    said = json.loads(found.body)
    assert ("error" in said) == (found.status != 200)
