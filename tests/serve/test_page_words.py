"""What errors advise, in words that somebody at the page can follow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import ticore as package
from ticore._serve.page_words import PAGE_WORDS, with_page_words

from .conftest import Client

KEY = "5a" * 32


@pytest.fixture(scope="module")
def library() -> str:
    """The source of all that is no command and no page, with the texts of errors on one line."""
    folder = Path(package.__file__).parent
    files = [file for file in folder.rglob("*.py") if not {"_cli", "_serve"} & {*file.parts}]
    found = " ".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r'"\s+f?"', "", found)


@pytest.mark.parametrize("advice", PAGE_WORDS)
def test_some_error_has_the_advice(advice: str, library: str) -> None:
    assert advice in library


def test_each_advice_is_replaced() -> None:
    said = " | ".join(PAGE_WORDS)
    assert with_page_words(said) == " | ".join(PAGE_WORDS.values())
    assert with_page_words("expected another text") == "expected another text"


LISTED = {"text": "It was cold.", "model": "tiny-en"}
MARKED = {"key": KEY, "model": "tiny-en", "prompt": "One day", "scheme": "gumbel_payload"}


@pytest.mark.parametrize(
    ("action", "fields", "said"),
    [
        (
            "write",
            {"key": KEY, "prompt": "The morning", "channel": "caseless", "message": "x"},
            "write it as 'the morning'",
        ),
        ("mark", MARKED | {"payload": "xyz"}, "fill it up with zeros"),
        ("mark", MARKED | {"payload": ""}, "type it as hex digits, two for each byte"),
        (
            "detect",
            LISTED | {"configurations": json.dumps([{"scheme": "gumbel", "key": 5}])},
            "expected a key in hex digits, found an int; write its hex digits in quotation marks; "
            "mend the list and open it again",
        ),
    ],
)
def test_error_advises_what_the_page_can_do(
    client: Client, action: str, fields: dict[str, object], said: str
) -> None:
    assert client.do(action, **fields).error.endswith(said)


def test_a_message_that_is_too_long_is_told_how_many_characters_fit(client: Client) -> None:
    message = "".join(f"{number}é" for number in range(3000))
    error = client.do("write", key=KEY, model="tiny-en", prompt="One day", message=message).error
    found = re.fullmatch(
        r"message: expected one that fits into a text of this model, of about ([\d,]+) characters "
        r"at most, found 13,890; send a shorter message, or two",
        error,
    )
    assert found
    assert 500 < int(found[1].replace(",", "")) < 2000
