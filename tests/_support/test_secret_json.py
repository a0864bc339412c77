"""JSON that may hold a key is read without an exception, whose text would show it."""

import json

import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore._support.secret_json import NOT_JSON, parsed_json
from ticore.errors import AgreementError, CredentialError


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


@pytest.mark.parametrize("kind", ["messages", "watermark"])
def test_no_error_shows_a_key_in_the_place_of_a_name(kind):
    key = bytes(range(32)).hex()
    if kind == "messages":
        model = ToyModel(ToyTokenizer(["a", "b", "ab"]))
        text = ticore.Steganographer(model, key=key, prompt="a").agreement.dumps()
        loads = ticore.Agreement.loads
    else:
        text = ticore.WatermarkAgreement.new("tiny-en", "gumbel", key=key).dumps()
        loads = ticore.WatermarkAgreement.loads
    document = json.loads(text)
    for fields in (document, document.get("agreement")):
        if fields is not None:
            fields[key] = ""
            with pytest.raises((CredentialError, AgreementError), match="unknown") as caught:
                loads(json.dumps(document))
            assert key not in str(caught.value)
            del fields[key]
