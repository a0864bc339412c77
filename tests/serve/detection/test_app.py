"""What the detection service answers, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import ticore
from tests.serve.conftest import need

from .conftest import ENTRIES, KEYS, Service

openapi, query = need("detection.openapi"), need("detection.query")

PLAIN = "The train left the station in the morning, and nobody on the platform looked after it."


def test_the_answer_has_what_the_detector_finds(service: Service, marked: str) -> None:
    tokenizer = ticore.load_tokenizer("tiny-en")
    detector = ticore.WatermarkDetector.any(tokenizer, ENTRIES, tokenizer_place="tiny-en")
    for text in (marked, PLAIN):
        found, expected = json.loads(service.ask({"text": text}).body), detector.detect(text)
        assert found["p_value"] == expected.p_value
        assert found["score"] == expected.best.detection.strength
        assert found["num_scored_tokens"] == expected.best.detection.scored
        assert found["is_watermarked"] == (text == marked)
        assert found["configuration"] == ("second" if text == marked else None)
        assert found["detection"] == expected.to_dict()
        assert json.loads(service.ask({"ids": tokenizer.encode(text)}).body) == found


def test_many_texts_get_an_answer_each_in_order(service: Service, marked: str) -> None:
    texts = [PLAIN, marked, "a", PLAIN[:60]]
    together = json.loads(service.ask({"texts": texts}).body)["results"]
    alone = [json.loads(service.ask({"text": text}).body) for text in texts]
    assert together == alone
    assert [sorted(each) == ["error"] for each in together] == [False, False, True, False]
    assert service.ask({"text": "a"}).status == 422
    ids = [[1, 2, 3] * 20, [10**9]]
    first, second = json.loads(service.ask({"ids": ids}).body)["results"]
    assert "p_value" in first
    assert "1000000000" in second["error"].replace(",", "")


def test_one_configuration_is_looked_for_by_its_name(service: Service, marked: str) -> None:
    first, second = (
        json.loads(service.ask({"text": marked, "configuration": name}).body) for name in KEYS
    )
    assert not first["is_watermarked"]
    assert second["is_watermarked"]
    assert second["detection"]["configurations"] == 1
    listed = json.loads(service.get("/configurations").body)
    assert listed["configurations"] == [*KEYS]


def test_a_configuration_of_many_is_looked_for_by_the_name_of_answers(marked: str) -> None:
    keys = [key.hex() for key in KEYS.values()]
    entries = ({"name": "tenant", "scheme": "gumbel", "key": keys}, {"key": keys[0]})
    opened = need("detection.detectors").DetectorSettings("tiny-en", entries).open()
    best = opened.named(None).detect(marked).best.name
    assert best.startswith("tenant, gumbel, key ")
    assert opened.names == ["tenant", *opened.named(None).names]
    alone = opened.named(best).detect(marked)
    assert (alone.best.name, alone.configurations) == (best, 1)
    both = opened.named("tenant").detect(marked)
    assert (both.best.name, both.configurations) == (best, 2)


@pytest.mark.parametrize("tokenizations", ["read", "places", "search"])
def test_tokenizations_are_chosen_for_each_request(
    service: Service, marked: str, tokenizations: Any
) -> None:
    tokenizer = ticore.load_tokenizer("tiny-en")
    detector = ticore.WatermarkDetector.any(
        tokenizer, ENTRIES, tokenizer_place="tiny-en", tokenizations=tokenizations
    )
    for text in (marked, PLAIN):
        asked = {"text": text, "tokenizations": tokenizations}
        found = json.loads(service.ask(asked).body)
        expected = detector.detect(text)
        assert found["p_value"] == expected.p_value
        assert found["detection"] == json.loads(json.dumps(expected.to_dict()))
        one = json.loads(service.ask(asked | {"configuration": "second"}).body)
        check = one["detection"]["best"]["detection"].get("tokenizations")
        assert (check is None) == (tokenizations == "read")
        assert (check or {}).get("tried") is not None or tokenizations != "search"


@pytest.mark.parametrize("tokenizations", ["places", "search"])
def test_what_costs_more_takes_smaller_requests(service: Service, tokenizations: str) -> None:
    most = query.MOST_SEARCHED_BYTES
    rest = len(json.dumps({"text": "", "tokenizations": tokenizations}))
    fits, longer = "a" * (most - rest), "a" * (most - rest + 1)
    assert service.ask({"text": fits, "tokenizations": tokenizations}).status == 200
    refused = service.ask({"text": longer, "tokenizations": tokenizations})
    assert refused.status == 413
    assert f"{most:,} bytes with {tokenizations}, found {most + 1:,}" in refused.error
    assert service.ask({"text": longer}).status == 200


def test_answers_are_those_that_openapi_describes(service: Service) -> None:
    described = json.loads(service.get("/openapi.json").body)
    assert described["openapi"].startswith("3.1")
    found = json.loads(service.ask({"text": PLAIN}).body)
    assert set(found) == set(openapi._ANSWER["properties"])
    assert set(openapi._QUERY["properties"]) == set(query.FIELDS)
    assert set(described["paths"]) == {"/detect", "/configurations", "/healthz"}
    assert json.loads(service.get("/healthz").body)["status"] == "ok"


def test_openapi_describes_who_is_refused_and_why(make_service: Callable[..., Service]) -> None:
    guarded = make_service(token="a-token-of-some-length")
    known = {"authorization": "Bearer a-token-of-some-length"}
    paths = json.loads(guarded.get("/openapi.json", **known).body)["paths"]
    operations = {path: next(iter(each.values())) for path, each in paths.items()}
    for path, described in operations.items():
        assert {"200", "400", "421", "500", "503"} <= described["responses"].keys()
        answer = guarded.ask({"text": PLAIN}) if path == "/detect" else guarded.get(path)
        assert (answer.status == 401) == ("401" in described["responses"])
        assert (answer.status == 401) == (described["security"] == [{"token": []}, {}])
        if answer.status == 401:
            (header,) = described["responses"]["401"]["headers"].items()
            assert answer.headers["www-authenticate"] == header[1]["schema"]["const"]


def test_openapi_describes_the_requests_that_are_taken(service: Service) -> None:
    schema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    described = schema.Draft202012Validator(openapi._QUERY)
    asked: list[tuple[dict[str, object], bool]] = [
        ({"text": PLAIN}, True),
        ({"texts": [PLAIN], "configuration": None, "tokenizations": None}, True),
        ({"ids": [1, 2, 3] * 20}, True),
        ({"ids": [[1, 2, 3]]}, True),
        ({"texts": []}, False),
        ({"ids": [query.MOST_ID + 1]}, False),
        ({"text": PLAIN, "ids": [1]}, False),
        ({"configuration": None}, False),
    ]
    for fields, taken in asked:
        assert described.is_valid(fields) == taken
        assert (service.ask(fields).status == 200) == taken


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "JSON object"),
        (b"[1]", "JSON object"),
        (b'{"text": "\\ud800"}', "valid Unicode"),
        (b'{"text": 1}', "text in quotation marks"),
        (b'{"text": "a", "ids": [1]}', "found 2 of them"),
        (b'{"configuration": "first"}', "found 0 of them"),
        (b'{"text": "a", "key": "5a5a"}', "found 1 others"),
        (b'{"texts": []}', "a list of 1 to 1,000"),
        (b'{"texts": ["a", 1]}', "text in quotation marks"),
        (b'{"ids": [1, -1]}', "token ids"),
        (b'{"ids": [[1], 2]}', "token ids"),
        (b'{"ids": [true]}', "token ids"),
        (b'{"ids": [1e400]}', "token ids"),
        (b'{"text": "a", "configuration": "third"}', "GET /configurations"),
        (b'{"text": "a", "configuration": ["first"]}', "GET /configurations"),
        (b'{"text": "a", "tokenizations": "all"}', "read, places, search"),
        (b'{"text": "a", "tokenizations": ["read"]}', "read, places, search"),
        (b"[" * 100_000, "JSON object"),
    ],
)
def test_a_request_that_says_something_else_is_refused(
    service: Service, body: bytes, said: str
) -> None:
    found = service.ask(body=body)
    assert found.status == 400
    assert said in found.error
    assert "5a5a" not in found.error


def test_other_requests_are_refused(service: Service, make_service: Callable[..., Service]) -> None:
    assert service.ask({"text": "a"}, content_type="text/plain").status == 415
    assert service.ask({"text": "a" * (5 << 20)}).status == 413
    assert service.ask({"text": "a"}, host="other.example").status == 421
    assert make_service(any_name=True).ask({"text": "a"}, host="other.example").status == 422
    assert service.get("/detect").status == 405
    assert service.get("/nothing").status == 404


def test_a_token_is_asked_for(make_service: Callable[..., Service]) -> None:
    guarded = make_service(token="a-token-of-some-length")
    assert guarded.ask({"text": PLAIN}).status == 401
    assert guarded.get("/configurations").status == guarded.get("/openapi.json").status == 401
    assert guarded.get("/healthz").status == 200
    assert guarded.ask({"text": PLAIN}, authorization="Bearer another").status == 401
    assert guarded.ask({"text": PLAIN}, authorization="x a-token-of-some-length").status == 401
    assert guarded.ask({"text": PLAIN}, authorization="bearer a-token-of-some-length").status == 200
    found = guarded.ask({"text": PLAIN}, authorization="Bearer a-token-of-some-length")
    assert found.status == 200


def test_many_requests_of_one_address_are_refused(make_service: Callable[..., Service]) -> None:
    limited = make_service(rate=0.001)
    assert limited.ask({"text": PLAIN}).status == 200
    assert limited.ask({"text": PLAIN}).status == 429


def test_no_answer_has_a_key(service: Service, marked: str) -> None:
    bodies = [service.ask({"text": marked}).body, service.get("/configurations").body]
    for key in KEYS.values():
        assert not any(key.hex().encode() in body for body in bodies)
