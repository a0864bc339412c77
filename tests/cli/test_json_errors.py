"""With --json an error is an object, too; standard error and the exit status stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
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


@pytest.mark.parametrize("name", ["/root/key", None])
def test_json_of_an_error_of_the_system_names_the_file_if_there_is_one(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr("ticore._cli.messages.load_key", refuse)
    # In a process of its own it discards what was not written yet; here, what was captured.
    monkeypatch.setattr("ticore._cli.streams.abandon_stdout", lambda: None)
    said = ticore("embed", "--json", "--key-file", "key")
    assert said.status == 1
    error = json.loads(said.out)["error"]
    assert error["kind"] == "PermissionError"
    expected = f"cannot use {name}: Permission denied; check its name" if name else "Permission"
    assert error["message"].startswith(expected)
    assert said.err == f"ticore: {error['message']}\n"
    ticore("embed", "--key-file", "key").assert_error(1, error["message"])


def test_json_of_an_error_names_missing_parts() -> None:
    error = MissingPartsError("two are missing", (2, 3))
    expected = {"kind": "MissingPartsError", "message": "two are missing", "missing": [2, 3]}
    assert error_as_json(error) == expected
