"""A pact file gives back what was put in, or a clear error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import FileError, KeyFormatError
from ticore.steganography.agreement import Agreement
from ticore.steganography.pact import Pact

KEY = bytes(range(100, 132))
AGREEMENT = Agreement(
    model="ab" * 32,
    tokenizer="cd" * 32,
    prompt="むかしむかし",
    view="continuation",
    mode="prefix",
    temperature=1,
    top_k=None,
    top_p=0.95,
    weight_bits=24,
    grid_bits=10,
    codec="arithmetic",
    disambiguation="stepwise",
)
PACT = Pact("tiny-en", KEY, AGREEMENT)


@given(st.text(min_size=1), st.binary(min_size=32, max_size=32))
def test_round_trip(place: str, key: bytes) -> None:
    for options in ({}, {"dtype": "float64"}):
        check_round_trip(Pact(place, key, AGREEMENT, options))


def check_round_trip(pact: Pact) -> None:
    text = pact.dumps()
    assert ("options" in json.loads(text)) == bool(pact.options)
    assert text.isascii()
    assert Pact.loads(text, "p") == pact


def test_the_file_says_what_it_is() -> None:
    document = json.loads(PACT.dumps())
    assert list(document) == ["format", "model", "key", "agreement"]
    assert document["format"] == "ticore-pact-1"
    assert document["model"] == "tiny-en"
    assert document["key"] == KEY.hex()
    assert document["agreement"] == AGREEMENT.to_dict()


def _changed(**values: Any) -> str:
    document = json.loads(PACT.dumps()) | values
    return json.dumps({name: value for name, value in document.items() if value is not ...})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not JSON"),
        (PACT.dumps()[:-5], "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "of the format 'ticore-pact-1', found None"),
        (_changed(format=...), "of the format 'ticore-pact-1', found None"),
        (_changed(format="ticore-pact-2", more=1), "found 'ticore-pact-2'"),
        (_changed(model=...), "missing model"),
        (_changed(key=...), "missing key"),
        (_changed(agreement=...), "missing agreement"),
        (_changed(extra=1), "unknown extra"),
        (_changed(model=7), "model and the key as texts"),
        (_changed(model=""), "model and the key as texts"),
        (_changed(key=None), "model and the key as texts"),
        (_changed(key=KEY.hex()[:-2]), "64 hex digits .*found 62 characters"),
        # 32 characters are 32 raw bytes in a key file, but not here.
        (_changed(key=KEY.hex()[:32]), "64 hex digits .*found 32 characters"),
        (_changed(agreement=[]), "agreement: expected named fields"),
        (_changed(options=[]), "expected options that are texts"),
        (_changed(options={"dtype": 3}), "expected options that are texts"),
        (_changed(agreement={"model": "x"}), "agreement: .*missing codec"),
        (_changed(agreement=AGREEMENT.to_dict() | {"top_p": 7}), "agreement: top_p: expected"),
    ],
)
def test_other_files_are_refused(text: str, expected: str) -> None:
    with pytest.raises(KeyFormatError, match=f"^my.pact: .*{expected}"):
        Pact.loads(text, "my.pact")


def test_pacts_that_could_not_be_read_back_are_refused() -> None:
    with pytest.raises(KeyFormatError, match="32 bytes, found 31"):
        Pact("tiny-en", KEY[1:], AGREEMENT)
    with pytest.raises(KeyFormatError, match="model"):
        Pact("", KEY, AGREEMENT)


def test_the_key_is_not_shown() -> None:
    assert KEY.hex() not in repr(PACT)
    assert repr(KEY) not in repr(PACT)
    with pytest.raises(KeyFormatError, match="found another one") as caught:
        Pact.loads(_changed(format=KEY.hex()), "my.pact")
    assert KEY.hex() not in str(caught.value)


def test_a_file_and_a_text_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "pact.json"
    path.write_text(PACT.dumps())
    assert Pact.load(path) == Pact.load(str(path)) == PACT
    assert Pact.loads(PACT.dumps()) == Pact.loads(PACT.dumps().encode()) == PACT
    with pytest.raises(KeyFormatError, match=r"^the pact: expected a pact file"):
        Pact.loads("no pact")
    with pytest.raises(FileError, match=r"cannot read .*nothing"):
        Pact.load(tmp_path / "nothing")
    path.write_bytes(b"\xff")
    with pytest.raises(KeyFormatError, match=r"pact\.json: expected a pact file"):
        Pact.load(path)


def test_nothing_of_a_damaged_file_stays_with_the_error() -> None:
    """JSON's own error carries the whole file, and with it the key."""
    with pytest.raises(KeyFormatError) as caught:
        Pact.loads(PACT.dumps()[:-5])
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
