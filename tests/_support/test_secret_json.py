"""JSON that may hold a key is read without an exception, whose text would show it."""

import pytest

from ticore._support.secret_json import NOT_JSON, parsed_json


@pytest.mark.parametrize(
    "text", ['{"key": "5a5a"', b'{"key": "\xff"}', "[" * 100_000, "", None, {"key": "5a"}]
)
def test_what_is_no_json_is_said_without_an_exception(text):
    assert parsed_json(text) is NOT_JSON


@pytest.mark.parametrize(
    "text", ['{"key": "5a"}', b'{"key": "5a"}', '{"key": "5a"}'.encode("utf-16")]
)
def test_json_is_read_from_texts_and_bytes(text):
    assert parsed_json(text) == {"key": "5a"}
