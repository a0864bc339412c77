"""With --json an error is an object, too; standard error and the exit status stay as they are."""

from __future__ import annotations

import json
from random import Random

import pytest

from ticore._cli.json_errors import error_as_json
from ticore._support.visible import visible
from ticore.errors import MissingPartsError

from .conftest import Sent, Ticore


def test_json_of_extract_says_where_a_text_was_changed(ticore: Ticore, sent: Sent) -> None:
    words = sent.text.decode().split(" ")
    words[12:14] = ["Xylophonic", "quartz"]
    changed = " ".join(words)
    call = ("extract", "--agreement", sent.pact)
    said, plain = (ticore(*call, *more, stdin=changed.encode()) for more in (("--json",), ()))
    plain.assert_error(1, "Xylophonic")
    assert (said.status, said.err) == (1, plain.err)
    error = json.loads(said.out)["error"]
    assert error["kind"] == "OutsidePoolError"
    assert plain.err == f"ticore: {visible(error['message'])}\n"
    place = error["place"]
    assert changed[place["character"] :].startswith(place["found"] + place["after"])
    assert changed[: place["character"]].endswith(place["before"])
    assert place["found"].startswith("Xylophonic"[:1])
    assert place["likely"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("extract", "--key-file", "none"), "InputFileError"),
        (("embed", "--key-file", "none"), "InputFileError"),
        (("demo", "--model", "tiny-xx"), "UnknownPlaceError"),
    ],
)
def test_json_of_every_message_command_has_the_error(
    ticore: Ticore, arguments: tuple[str, ...], kind: str
) -> None:
    said = ticore(*arguments, "--json")
    assert said.status == 1
    error = json.loads(said.out)["error"]
    assert error["kind"] == kind
    assert said.err == f"ticore: {error['message']}\n"
    ticore(*arguments).assert_error(1, error["message"])
    assert ticore(*arguments, "--json", "--no-such").out == b""  # wrong usage is for a person


def test_json_of_an_error_names_options_as_standard_error_does(ticore: Ticore, sent: Sent) -> None:
    said = ticore("embed", "--agreement", sent.pact, "--json", stdin=Random(1).randbytes(9000))
    assert "--parts FOLDER hides longer messages" in said.err
    assert said.err == f"ticore: {json.loads(said.out)['error']['message']}\n"


def test_json_of_an_error_holds_a_name_that_is_not_unicode(ticore: Ticore) -> None:
    said = ticore("embed", "--json", "--key-file", "none\udcff")
    assert said.status == 1
    assert "none\udcff" in json.loads(said.out)["error"]["message"]


def test_json_of_an_error_names_missing_parts() -> None:
    error = MissingPartsError("two are missing", (2, 3))
    expected = {"kind": "MissingPartsError", "message": "two are missing", "missing": [2, 3]}
    assert error_as_json(error) == expected
