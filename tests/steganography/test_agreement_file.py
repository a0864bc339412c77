"""Agreements in files: they give back what was put in, or a clear error that shows no key."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from ticore.errors import (
    AgreementError,
    CredentialError,
    InputFileError,
    OutputFileError,
    SettingsError,
)
from ticore.keys import format_key
from ticore.steganography import Agreement, Steganographer

KEY = bytes(range(100, 132))
SETTINGS = Agreement(
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
AGREEMENT = replace(SETTINGS, key=KEY, model_place="tiny-en")
FORMER = Path(__file__).with_name("former_files")


# Dumped and loaded


@given(
    place=st.none() | st.text(min_size=1),
    key=st.none() | st.binary(min_size=32, max_size=32),
    options=st.sampled_from([{}, {"dtype": "float64"}]),
)
def test_agreement_comes_back_when_dumped_and_loaded(
    place: str | None, key: bytes | None, options: dict[str, str]
) -> None:
    agreement = replace(SETTINGS, key=key, model_place=place, model_options=options)
    text = agreement.dumps()
    document = json.loads(text)
    assert text.isascii()
    for name, given_ in (("options", options), ("model", place), ("key", key)):
        assert (name in document) == bool(given_)
    assert Agreement.loads(text, "p") == Agreement.loads(text.encode()) == agreement


def test_dumps_has_the_format_of_former_versions() -> None:
    document = json.loads(AGREEMENT.dumps())
    assert list(document) == ["format", "model", "key", "agreement"]
    assert document["format"] == "ticore-pact-1"
    assert document["model"] == "tiny-en"
    assert document["key"] == KEY.hex()
    assert document["agreement"] == AGREEMENT.to_dict() == SETTINGS.to_dict()


def test_digest_is_of_the_settings_alone() -> None:
    assert AGREEMENT.digest() == SETTINGS.digest()
    assert AGREEMENT != SETTINGS


def _changed(**values: Any) -> str:
    document = json.loads(AGREEMENT.dumps()) | values
    return json.dumps({name: value for name, value in document.items() if value is not ...})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not JSON"),
        (AGREEMENT.dumps()[:-5], "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "of the format 'ticore-pact-1', found a list"),
        ("3", "of the format 'ticore-pact-1', found a single value"),
        (_changed(format=...), "of the format 'ticore-pact-1', found None"),
        (_changed(format="ticore-pact-2", more=1), "found 'ticore-pact-2'"),
        (_changed(agreement=...), "missing agreement"),
        (_changed(extra=1), "unknown extra"),
        (_changed(model=7), "model and the key as non-empty texts"),
        (_changed(model=""), "model and the key as non-empty texts"),
        (_changed(key=7), "model and the key as non-empty texts"),
        (_changed(key=KEY.hex()[:-2]), "64 hex digits .*found 62 characters"),
        # 32 characters are 32 raw bytes in a key file, but not here.
        (_changed(key=KEY.hex()[:32]), "64 hex digits .*found 32 characters"),
        (_changed(agreement=[]), "agreement: expected named fields"),
        (_changed(options=[]), "expected options that are texts"),
        (_changed(options={"dtype": 3}), "expected options that are texts"),
        (_changed(agreement={"model": "x"}), "agreement: .*missing codec"),
        (_changed(agreement=SETTINGS.to_dict() | {"top_p": 7}), "agreement: top_p: expected"),
    ],
)
def test_loads_refuses_other_texts(text: str, expected: str) -> None:
    with pytest.raises(AgreementError, match=f"^my.file: .*{expected}"):
        Agreement.loads(text, "my.file")


def test_agreement_refuses_what_could_not_be_read_back() -> None:
    with pytest.raises(CredentialError, match="32 bytes, found 31"):
        replace(SETTINGS, key=KEY[1:])
    with pytest.raises(SettingsError, match="model_place"):
        replace(SETTINGS, model_place="")


def test_agreement_does_not_show_its_key() -> None:
    assert KEY.hex() not in repr(AGREEMENT)
    assert repr(KEY) not in repr(AGREEMENT)
    with pytest.raises(AgreementError, match="found another one") as caught:
        Agreement.loads(_changed(format=KEY.hex()), "my.file")
    assert KEY.hex() not in str(caught.value)


def test_error_about_a_damaged_file_holds_nothing_of_it() -> None:
    """JSON's own error carries the whole file, and with it the key."""
    with pytest.raises(AgreementError) as caught:
        Agreement.loads(AGREEMENT.dumps()[:-5])
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# Saved


def test_load_reads_what_save_wrote(tmp_path: Path) -> None:
    for name, agreement in (("with", AGREEMENT), ("without", SETTINGS)):
        agreement.save(tmp_path / name)
        assert Agreement.load(tmp_path / name) == Agreement.load(str(tmp_path / name)) == agreement


@pytest.mark.skipif(os.name != "posix", reason="modes say nothing here")
def test_save_closes_the_file_to_others_when_it_holds_a_key(tmp_path: Path) -> None:
    AGREEMENT.save(tmp_path / "with")
    assert stat.S_IMODE((tmp_path / "with").stat().st_mode) == 0o600


def test_save_replaces_no_file_when_the_agreement_holds_a_key(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("anything")
    with pytest.raises(OutputFileError, match="new file"):
        AGREEMENT.save(path)
    assert path.read_text() == "anything"


def changed(**fields: object) -> bytes:
    """An agreement with a key, and with other fields."""
    return json.dumps(json.loads(AGREEMENT.dumps()) | fields).encode()


@pytest.mark.parametrize(
    "content",
    [
        AGREEMENT.dumps().encode(),
        format_key(KEY).encode(),
        KEY,
        changed(format="ticore-agreement-9", something=1),  # of a later version
        changed(agreement={"top_k": "64"}),
        AGREEMENT.dumps().encode()[:-3],  # cut off
        AGREEMENT.dumps()[:-3].encode("utf-16"),
        json.dumps({"format": "ticore-watermark-1", "key": KEY.hex()}).encode(),
    ],
)
def test_save_replaces_no_file_that_holds_a_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(OutputFileError, match="without a key, found one with a key"):
        SETTINGS.save(path)
    assert path.read_bytes() == content


def test_save_replaces_an_agreement_without_a_key(tmp_path: Path) -> None:
    path = tmp_path / "file"
    SETTINGS.save(path)
    replace(SETTINGS, top_k=3).save(path)
    assert Agreement.load(path).top_k == 3


def test_load_names_the_file_that_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"cannot read .*nothing"):
        Agreement.load(tmp_path / "nothing")
    (tmp_path / "file").write_bytes(b"\xff")
    with pytest.raises(AgreementError, match=r"file: expected an agreement file"):
        Agreement.load(tmp_path / "file")
    with pytest.raises(AgreementError, match=r"^the agreement: expected an agreement file"):
        Agreement.loads("no agreement")


# Files that earlier versions wrote


@pytest.mark.parametrize("name", ["pact.json", "agreement.json", "portable-pact.json"])
def test_load_opens_files_of_former_versions(name: str) -> None:
    digests = json.loads((FORMER / "digests.json").read_text())
    agreement = Agreement.load(FORMER / name)
    assert agreement.digest().hex() == digests[name]
    has_key = "pact" in name
    assert agreement.key == (bytes(range(32)) if has_key else None)
    assert agreement.model_place == ("tiny-en" if has_key else None)
    if has_key:
        assert agreement.dumps() == (FORMER / name).read_text()


def test_text_of_a_former_version_is_read_with_its_files() -> None:
    text = (FORMER / "text.txt").read_text()
    agreement = Agreement.load(FORMER / "pact.json")
    assert agreement.model_options == {"dtype": "float64"}
    stego = Steganographer.from_agreement(agreement)
    assert stego.extract(text) == b"noon"
    settings = Agreement.load(FORMER / "agreement.json")
    model = ticore.load_model("tiny-en")
    again = Steganographer.from_agreement(settings, model=model, key=bytes(range(32)))
    assert again.extract(text) == b"noon"


# Pact, the former name


def test_pact_is_an_agreement_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match=r"ticore.Pact is deprecated"):
        former = ticore.Pact
    pact = former("tiny-en", KEY, SETTINGS)
    assert pact == former(model_place="tiny-en", key=KEY, agreement=SETTINGS) == AGREEMENT
    assert isinstance(pact, Agreement)
    assert isinstance(pact, former)
    assert former.loads(AGREEMENT.dumps()) == AGREEMENT
    with pytest.warns(DeprecationWarning, match=r"Pact.agreement is deprecated"):
        assert pact.agreement == SETTINGS
    with pytest.warns(DeprecationWarning, match=r"use Agreement.model_options"):
        assert pact.options == {}


def test_an_error_shows_no_key_that_stands_in_the_wrong_place(tmp_path: Path) -> None:
    digits = "47ef61ec94907867a1544465f2c8abcd95a3e3c66c14945896782deceb612345"
    path, model = tmp_path / "a.json", ticore.load_model("tiny-en")
    Steganographer(model, key=KEY, prompt="One day").agreement.save(path)
    document = json.loads(path.read_text())
    wrong = [{**document, digits: 1}]
    for name in ("codec", "mode", "numerics", "disambiguation"):
        wrong.append({**document, "agreement": {**document["agreement"], name: digits}})
    for each in wrong:
        path.write_text(json.dumps(each))
        with pytest.raises((AgreementError, SettingsError)) as raised:
            Steganographer.from_agreement(Agreement.load(path), model=model, key=KEY)
        shown = str(raised.value)
        assert not any(digits[at : at + 24] in shown for at in range(len(digits) - 24))


def test_variants_of_an_agreement_are_given_by_name_too() -> None:
    stego = Steganographer(ticore.load_model("tiny-en"), key=KEY, prompt="One day")
    agreement, model = stego.agreement, ticore.load_model("tiny-en")
    again = Steganographer.from_agreement(
        agreement, model=model, key=KEY, codec="arithmetic", channel="identity"
    )
    assert again.agreement == agreement
    with pytest.raises(AgreementError, match="the codec that was agreed on, 'arithmetic', found"):
        Steganographer.from_agreement(agreement, model=model, key=KEY, codec="discop")
    with pytest.raises(SettingsError, match="expected a model as"):
        Steganographer.from_agreement(agreement, model=cast(Any, "tiny-en"), key=KEY)
